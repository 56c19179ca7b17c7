import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { encodeText } from '../../../src/core/csv/encodings.ts'

/** The folder of this worker. In a shared one, two tests could replace each other's files. */
export const documentFolder = join(
  '.cache',
  'e2e-documents',
  process.env['TEST_PARALLEL_INDEX'] ?? ''
)

/** Writes a PDF of one page with one line, as an office program would. Returns its path. */
export async function makePdf(name: string, line: string): Promise<string> {
  const content = `BT /F1 24 Tf 72 720 Td (${line}) Tj ET`
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'
  ]
  let text = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const offset = text.length
    text += `${index + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const entries = offsets.map(offset => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  text += `xref\n0 6\n0000000000 65535 f \n${entries}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`
  return write(name, Buffer.from(text))
}

/**
 * Writes a JPEG of random pixels, about three megabytes, encoded by the browser. Returns its path.
 */
export async function makeJpeg(page: Page, name: string): Promise<string> {
  const base64 = await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(2560, 1920)
    const context = canvas.getContext('2d')
    if (!context) throw new Error('no canvas')
    const pixels = context.createImageData(canvas.width, canvas.height)
    for (let at = 0; at < pixels.data.length; at += 65_536) {
      crypto.getRandomValues(pixels.data.subarray(at, at + 65_536))
    }
    for (let at = 3; at < pixels.data.length; at += 4) pixels.data[at] = 255
    context.putImageData(pixels, 0, 0)
    const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality: 0.8 })
    const bytes = new Uint8Array(await blob.arrayBuffer())
    let text = ''
    for (let at = 0; at < bytes.length; at += 32_768) {
      text += String.fromCharCode(...bytes.subarray(at, at + 32_768))
    }
    return btoa(text)
  })
  return write(name, Buffer.from(base64, 'base64'))
}

export async function makeRandomFile(name: string, bytes: number): Promise<string> {
  await mkdir(documentFolder, { recursive: true })
  const path = join(documentFolder, name)
  const file = createWriteStream(path)
  for (let left = bytes; left > 0; left -= 1_000_000) {
    if (!file.write(randomBytes(Math.min(left, 1_000_000)))) await once(file, 'drain')
  }
  file.end()
  await once(file, 'finish')
  return path
}

export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}

async function write(name: string, bytes: Uint8Array): Promise<string> {
  await mkdir(documentFolder, { recursive: true })
  const path = join(documentFolder, name)
  await writeFile(path, bytes)
  return path
}

const names = ['Zoé Lefèvre', 'François Œuvrard', 'Jürgen Groß', 'Ann “Annie” Lee', '=1+1']

/**
 * Returns a CSV file with 1,000 people, as untidy as lists from real offices: semicolons, the
 * encoding Windows-1252, and formulas. Eight rows have an error: a wrong, a repeated or no e-mail,
 * or an unknown group. All other people are in the group `group`. `tag` makes the e-mails unique.
 */
export function messyPeopleCsv(tag: string, group = ''): Uint8Array {
  const quoted = (text: string) => (/[;"\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  const rows = Array.from({ length: 1_000 }, (_, at) => {
    const number = at + 1
    const email =
      number === 100 || number === 200
        ? `PERSON${at}.${tag}@example.com`
        : number % 250 === 0
          ? 'not an email'
          : number === 333
            ? ''
            : `person${number}.${tag}@example.com`
    const name = `${names[number % names.length]} ${number}`
    const note = number % 97 === 0 ? '=HYPERLINK("http://x";"y")' : number % 41 === 0 ? 'a\nb' : ''
    const groups = number === 444 ? `No group ${tag}` : group
    return [name, email, groups, `+33 6 ${number}`, note].map(quoted).join(';')
  })
  const text = `${['Nom;Courriel;Groupes;Téléphone;Remarque', ...rows].join('\r\n')}\r\n`
  const bytes = encodeText(text, 'windows-1252', false)
  if (!bytes) throw new Error('the list has letters that Windows-1252 has not')
  return bytes
}

/**
 * Returns a list of 20,000 diplomas as a French spreadsheet writes it, with a title above its
 * headings. Rows 100, 200 and 300 are refused: no number, no date, a diploma that comes twice.
 */
export function messyDiplomasCsv(): Uint8Array {
  const rows = Array.from({ length: 20_000 }, (_, at) => {
    // row 300 is row 299 again
    const number = at === 299 ? 299 : at + 1
    const diploma = number === 100 ? '' : `D-${(number * 7919) % 100_003}`
    const born = number === 200 ? 'mai 1999' : `${(number % 28) + 1}/05/19${70 + (number % 30)}`
    const name = `${names[number % names.length]}`.replaceAll('"', '').replaceAll(';', ' ')
    return [name, 'Léa', born, diploma, '"Master; recherche"', '2024'].join(';')
  })
  const header = 'Nom;Prénom;Date de naissance;Numéro de diplôme;Diplôme;Année'
  const text = `${['Diplômes délivrés', header, ...rows].join('\r\n')}\r\n`
  const bytes = encodeText(text, 'windows-1252', false)
  if (!bytes) throw new Error('the list has letters that Windows-1252 has not')
  return bytes
}
