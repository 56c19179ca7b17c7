import type { KeyObject } from 'node:crypto'
import type { Colors, DnsOutcome, DomainConfig, Locale } from '../../contract/domains.ts'
import type { AppError } from '../../contract/kit/errors.ts'
import type { RegisterImportFailure } from '../../contract/register-imports.ts'
import type { Bytes } from '../../core/bytes.ts'
import type { TilePlace } from '../../core/evidence/tiles.ts'
import type { Db } from '../db/open.ts'
import type { SuspensionMark } from '../db/schema.ts'
import type { CompanyId, Tx } from '../db/scope.ts'

export type { CompanyId } from '../db/scope.ts'

export interface Deps {
  db: Db
  keys: InstallationKeys
  companyKeys: CompanySecretKeyReader
  tokens: AccessTokenReader
  counters: RateCounters
  blobs: BlobStore
  logFiles: LogFiles
  mails: MailSender
  /** Undefined without DNS checks. */
  dns: DnsLookup | undefined
  foreignFiles: ForeignFiles
  clock: () => Date
  /** Cryptographically random bytes. */
  random: (length: number) => Uint8Array<ArrayBuffer>
  log: Log
  signals: ServiceSignals
  callers: CallerWatch
  // by which other processes find out whether it runs; undefined if they do not notify each other
  process: string | undefined
  settings: InstallationSettings
  /** Aborted when the process stops. */
  stopping: AbortSignal
}

export interface InstallationSettings {
  scheme: 'http' | 'https'
  /** Undefined for the scheme's default. */
  port: number | undefined
  dev: boolean
  /** Then only `dev` makes a request one of a developer's machine. */
  hasPublicUrl: boolean
  /** Without one, mails are written to a folder. */
  mailServer: boolean
  maxUploadBytes: number
  limits: TrafficLimitSettings
  bounds: BoundSettings
  /** How long leaves are collected before a log is signed, in milliseconds. */
  logBatchMs: number
  /** Undefined for `<first host>/platform-log`. */
  platformOrigin: string | undefined
}

export interface BoundSettings {
  domains: number
  groups: number
  categories: number
  dataSources: number
  people: number
  /** Of rows, and of the reasons why rows are refused. */
  importBytes: number
  registerRows: number
}

export interface TrafficLimitSettings {
  signInPerAddressMinute: number
  signUpPerAddressHour: number
  mailsPerAddressHour: number
  mailsPerCompanyDay: number
  /** Failed attempts in 15 minutes. */
  mailTokensPerAddress: number
  verifyPerAddressMinute: number
  verifyPerAddressDay: number
  verifyPerCompanyDay: number
  verifyPerUserMinute: number
  publicPerAddressMinute: number
  reportsPerAddressMinute: number
  streamsPerUser: number
  streamsPerCompany: number
  streamsPerProcess: number
}

/** `counter` is a keyed hash, so that neither a network address nor an e-mail is stored. */
export interface RateCount {
  counter: Buffer
  points: number
  limit: number
  /** The length of the period, which begins with its first point. */
  seconds: number
  /** Given if a call beyond the limit may still be taken. */
  reserve?: unknown
}

export interface RateSum<Count> {
  count: Count
  /** With those before in the period. */
  points: number
  msLeft: number
}

export interface RateCounters {
  /**
   * Counts in the database, one after the other, and nothing after one that is beyond its limit. If
   * that one was refused within the last second, the result may hold it alone.
   */
  add<Count extends RateCount>(counts: readonly Count[]): Promise<RateSum<Count>[]>
  /** One point of each. */
  takeBack(counters: readonly Buffer[]): Promise<void>
  /** Counts what this process has seen. */
  addInProcess<Count extends RateCount>(count: Count): Promise<RateSum<Count>>
}

/** The company whose host an HTTP request addresses. */
export interface Tenant {
  company_id: CompanyId
  host: string
  config: DomainConfig
  /** Only a domain such as `*.acme.fr` covers the host. */
  isWildcard: boolean
  /** Whether the installation serves a verified domain other than `*.localhost`. */
  hasOwnDomain: boolean
  /** The installation's own company, until it has proved a host. */
  keepsLocalhost: boolean
  disabled: SuspensionMark | undefined
}

/** `host` is where links in the mails lead. */
export type SendingCompany = Pick<Tenant, 'company_id' | 'host'>

/** Only `server/adapters/keys.ts` sees the secrets. */
export interface InstallationKeys {
  /** Stored with encrypted data. */
  rootSecretId: string
  /** HMAC-SHA256, with a key of its own for each label. */
  mac(
    label: 'challenge' | 'pseudonym' | 'link' | 'device' | 'repetition',
    data: Uint8Array | string
  ): Buffer
  // AES-256-GCM: nonce, ciphertext and tag. `aad` names the row, so bytes copied to another row do
  // not open
  seal(plain: Uint8Array, aad: string): Buffer
  /** Equal bytes with equal `aad` give equal results, so that a query can find them. */
  sealSame(plain: Uint8Array, aad: string): Buffer
  /** Throws if `aad` differs or the bytes were changed. */
  open(sealed: Uint8Array, aad: string): Buffer
  /** An ES256 signature: r and s, 64 bytes. */
  signingKey(): { kid: string; sign(text: string): Buffer }
  verifyingKey(kid: string): CryptoKey | undefined
  /** Another process may have added a key; deletes those replaced more than a day ago. */
  reload(): Promise<void>
}

export interface CompanySecretKeys {
  /** For the tags in `lookup_tag` and `blob`. */
  lookup: KeyObject
  /** For the openings of deposits: salts, values and link keys. */
  data: KeyObject
}

/** Decrypts the keys of each company once per process. */
export interface CompanySecretKeyReader {
  /** Reads missing keys in `tx`. */
  read(tx: Tx): Promise<CompanySecretKeys>
  /** Reads missing keys in a transaction of its own. */
  open(company: CompanyId): Promise<CompanySecretKeys>
}

/** No name and no permission, because scripts can read the token. */
export interface AccessTokenClaims {
  user_id: string
  session_id: string
  pending: boolean
  signedIn: Date
  expires: Date
}

/** Verifies each signature once per process and host. */
export interface AccessTokenReader {
  /** Throws `unauthenticated` for a token that is invalid, expired or of another host. */
  read(tenant: Tenant, token: string, now: Date): Promise<AccessTokenClaims>
}

/** The first generation is 0. A process that takes an upload over writes a file of the next one. */
export interface StagedFileId {
  company_id: CompanyId
  id: string
  generation: number
}

/**
 * A staged file holds the arriving bytes of one upload. A kept file belongs to all deposits of the
 * same bytes; its name is their keyed hash, the tag.
 */
export interface BlobStore {
  /** Of the disk, in bytes. */
  space(): Promise<{ total: number; free: number }>
  stagingDirectory: string
  stagingFile(staged: StagedFileId): string
  sizeStaged(staged: StagedFileId): Promise<number | undefined>
  /** Copies the newest file that an earlier process has left, if any, and then deletes that one. */
  takeOverStaged(staged: StagedFileId): Promise<void>
  /** The folder survives a power failure. */
  prepareStaging(company: CompanyId): Promise<void>
  /** With its folder entry; throws if the disk fails. */
  syncStaged(staged: StagedFileId): Promise<void>
  digestStaged(staged: StagedFileId): Promise<FileDigest | undefined>
  digestKept(company: CompanyId, tag: Uint8Array): Promise<FileDigest | undefined>
  sizeKept(company: CompanyId, tag: Uint8Array): Promise<number | undefined>
  // Moves it, in a way that survives a power failure. A kept file of the same size stays, because
  // other deposits may refer to it, unless its inode is `damaged`: its bytes have changed on disk.
  keep(staged: StagedFileId, tag: Uint8Array, damaged?: number): Promise<void>
  discardStaged(staged: StagedFileId): Promise<void>
  /** For uploads whose bytes come from no client. */
  stage(company: CompanyId, upload: string, bytes: Uint8Array): Promise<void>
  /** But not the note of `noteRemoval`. */
  removeCompany(company: CompanyId): Promise<void>
  /** If this process ends first, the next one finds the note and deletes the files. */
  noteRemoval(company: CompanyId): Promise<void>
  listRemovals(): Promise<{ company: CompanyId; at: Date }[]>
  forgetRemoval(company: CompanyId): Promise<void>
  // `end` is included; once resolved, the stream can be read to its end even if the file is deleted
  read(
    company: CompanyId,
    tag: Uint8Array,
    range?: { start: number; end: number }
  ): Promise<ReadableStream<Uint8Array>>
  discardKept(company: CompanyId, tag: Uint8Array): Promise<void>
  /** Last written before `before`. */
  listStaged(company: CompanyId, before: Date): Promise<StagedFileId[]>
  /** Their tags, 32 bytes each. */
  listKept(company: CompanyId): AsyncIterable<Buffer>
  /** When it was last written or moved. */
  changedKept(company: CompanyId, tag: Uint8Array): Promise<Date | undefined>
}

/**
 * The message is chosen when the mail is sent: if the e-mail has an account by then, `signup`
 * becomes a notice.
 */
export type QueuedMailKind =
  | 'signup'
  | 'activate'
  | 'reset'
  | 'email_confirm'
  | 'email_notice'
  | 'password_changed'
  | 'account_deleted'
  | 'key_created'
  | 'key_renewed'
  | 'key_ending'

export interface MailMessage {
  /** The same in every attempt, so that a mail server can recognize a repetition. */
  id: string
  kind: 'verify' | 'known' | Exclude<QueuedMailKind, 'signup'>
  to: string
  locale: Locale
  from: { host: string; company: string; colors: Colors; contact: string | undefined }
  link: string
  key?: { name: string; hint: string; expires: Date }
}

/** `values` is empty unless `outcome` is `found`. */
export interface DnsAnswer {
  outcome: Exclude<DnsOutcome, 'other_value'>
  values: string[]
}

export interface DnsLookup {
  /** Never throws: a failure is an `outcome`. */
  readTxt(name: string): Promise<DnsAnswer>
  /** Also through an alias; undefined if DNS did not answer; never throws. */
  readAddresses(name: string): Promise<string[] | undefined>
}

export type ForeignFileFailure = Extract<
  RegisterImportFailure,
  | 'address_refused'
  | 'address_unreachable'
  | 'address_answer'
  | 'changed_meanwhile'
  | 'file_empty'
  | 'file_too_large'
>

export interface ForeignFiles {
  /**
   * Fetches the file at an address that a person entered, and writes it from its start, one piece
   * after the other. Returns how many bytes it has, or why it cannot be fetched. Throws the errors of
   * `write`, and the reason of the signal.
   */
  fetch(
    address: string,
    options: {
      maxBytes: number
      signal: AbortSignal
      /** `total` is how many bytes the server announces. */
      write: (bytes: Uint8Array, total: number | undefined) => Promise<void>
    }
  ): Promise<{ bytes: number } | { failure: ForeignFileFailure }>
}

/**
 * The published files of logs, which are all that readers get. `log` is the id of a log: the SHA-256
 * of its origin in hex digits. Writing ends when the bytes would survive a loss of power.
 */
export interface LogFiles {
  readCheckpoint(log: string): Promise<string | undefined>
  /**
   * Replaces the checkpoint, so that readers get the old one or the new one. Throws if the one in
   * place is not `before`, undefined for none: another process has signed meanwhile.
   */
  writeCheckpoint(log: string, note: string, before: string | undefined): Promise<void>
  /** Undefined if there is none. It may hold more hashes than a checkpoint covers. */
  readTile(log: string, tile: TilePlace): Promise<Bytes | undefined>
  writeTile(log: string, tile: TilePlace, hashes: Uint8Array): Promise<void>
  /** Each leaf with its length before it (C2SP tlog-tiles). Undefined if there are none. */
  readEntries(log: string, index: number): Promise<Bytes | undefined>
  writeEntries(log: string, index: number, entries: Uint8Array): Promise<void>
  /** The origin of the log that follows a retired one. Readers are not served it. */
  readSuccessor(log: string): Promise<string | undefined>
  writeSuccessor(log: string, origin: string): Promise<void>
  /**
   * When the folder of all logs was made: a copy of it has another time. Undefined if there is no
   * folder, or if its file system does not tell.
   */
  readFolderTime(): Promise<Date | undefined>
  /** Whether it has no file of any log. */
  isFolderEmpty(): Promise<boolean>
  remove(log: string): Promise<void>
}

export interface MailSender {
  /** `refused` for good by the mail server; throws if another attempt may succeed. */
  send(message: MailMessage): Promise<'sent' | 'refused'>
  /** Written more than 30 days ago. */
  deleteOldFiles?(now: Date): Promise<void>
}

export interface FileDigest {
  sha256: Buffer
  size: number
  /** A file that replaces this one has another. */
  inode: number
}

/**
 * Sent after the commit, some also to other processes. A signal can get lost, so every listener
 * also looks for changes at intervals.
 */
export interface ServiceSignals {
  /** A person's history has changed. */
  events: ServiceSignal<PersonInCompany>
  /** An upload is complete, so that its deposit can be created. */
  uploads: ServiceSignal
  /** A mail was queued. */
  mails: ServiceSignal
  /** An import is to be checked, run or undone. */
  imports: ServiceSignal
  /** The file of an import of a register has arrived or is to be fetched, or rows are to be erased. */
  registers: ServiceSignal
  /** A company's log has new leaves, or its first one is missing. */
  leaves: ServiceSignal
  /** A company's log has been signed. */
  seals: ServiceSignal
  /** A session has ended or changed, or the person was disabled or deleted. */
  sessions: ServiceSignal<PersonInCompany>
  /** A process wants to write an upload: its present writer stops if its client sends nothing. */
  writers: ServiceSignal<{ company: CompanyId; upload: string }>
  /** The host of a domain that was added, changed or removed. */
  domains: ServiceSignal<string>
  /** Renamed, suspended or resumed. */
  companies: ServiceSignal
  /** Signals of other processes may be lost: a listener checks everything that it watches. */
  missed: ServiceSignal<void>
}

export interface WatchedCaller {
  person: { id: string; session_id: string; company_id: CompanyId }
  host: string
  /** Without which the caller must not continue. */
  permissions: readonly string[]
}

/**
 * Ends what callers have begun when they lose the right to it: within a second after signals,
 * otherwise within two.
 */
export interface CallerWatch {
  /** `onEnd` gets the error of a new call, at most once; the returned function ends the watch. */
  watch(caller: WatchedCaller, onEnd: (reason: AppError) => void): () => void
}

export interface PersonInCompany {
  company: CompanyId
  user: string
}

export interface ServiceSignal<T = CompanyId> {
  send(value: T): void
  /** Returns a function that ends it. */
  on(listener: (value: T) => void): () => void
}

export interface Log {
  info(facts: object, text: string): void
  warn(facts: object, text: string): void
  error(facts: object, text: string): void
}
