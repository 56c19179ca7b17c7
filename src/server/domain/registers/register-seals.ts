import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto'

// What an import keeps beside the rows of its register, sealed with the company's data key: the cells
// of refused rows, and the address of a file, which may carry a token.

const nonceBytes = 12
const authTagBytes = 16

type Sealed = Uint8Array<ArrayBuffer>
type DataKey = { data: KeyObject }

export interface FaultPlace {
  company_id: string
  import_id: string
  /** Its number in the file. */
  row: number
}

/** The cells of the columns of the import, in their order. */
export function sealFaultCells(
  keys: DataKey,
  place: FaultPlace,
  cells: readonly string[],
  random: (length: number) => Uint8Array
): Sealed {
  return seal(keys, faultAad(place), JSON.stringify(cells), random)
}

/** Throws, as `openAddress` does, if the bytes are not those of this place. */
export function openFaultCells(keys: DataKey, place: FaultPlace, sealed: Buffer): string[] {
  // as: written by `sealFaultCells` and authenticated
  return JSON.parse(open(keys, faultAad(place), sealed)) as string[]
}

interface AddressPlace {
  company_id: string
  /** Of the import. */
  id: string
}

export function sealAddress(
  keys: DataKey,
  place: AddressPlace,
  address: string,
  random: (length: number) => Uint8Array
): Buffer {
  return Buffer.from(seal(keys, addressAad(place), address, random))
}

export function openAddress(keys: DataKey, place: AddressPlace, sealed: Buffer): string {
  return open(keys, addressAad(place), sealed)
}

function seal(
  { data }: DataKey,
  aad: string,
  text: string,
  random: (length: number) => Uint8Array
): Sealed {
  const nonce = random(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', data, nonce).setAAD(Buffer.from(aad))
  const sealed = [nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]
  return new Uint8Array(Buffer.concat(sealed))
}

function open({ data }: DataKey, aad: string, sealed: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', data, sealed.subarray(0, nonceBytes))
  decipher.setAAD(Buffer.from(aad)).setAuthTag(sealed.subarray(-authTagBytes))
  const plain = [decipher.update(sealed.subarray(nonceBytes, -authTagBytes)), decipher.final()]
  return Buffer.concat(plain).toString('utf8')
}

function faultAad({ company_id, import_id, row }: FaultPlace): string {
  return `vidimus/register-fault/v1|${company_id}|${import_id}|${row}`
}

function addressAad({ company_id, id }: AddressPlace): string {
  return `vidimus/register-address/v1|${company_id}|${id}`
}
