import type { KeyObject } from 'node:crypto'
import type { RateLimiterMemory } from 'rate-limiter-flexible'
import type { Colours, DomainConfig, Locale } from '../../contract/domains.ts'
import type { Db } from '../db/open.ts'
import type { CompanyId, Tx } from '../db/scope.ts'

export type { CompanyId, WaitingClient } from '../db/scope.ts'

/**
 * Everything that the domain depends on. Tests provide their own values instead of mocking modules.
 */
export interface Deps {
  db: Db
  keys: Keys
  companyKeys: CompanyKeyring
  tokens: TokenReader
  /** The counters of the rate limits. */
  counters: Map<string, RateLimiterMemory>
  blobs: Blobs
  mails: MailSender
  clock: () => Date
  /** Returns `length` random bytes. */
  random: (length: number) => Uint8Array<ArrayBuffer>
  log: Log
  signals: Signals
  settings: Settings
  /** Aborted when the process stops. Event streams then end. */
  stopping: AbortSignal
}

export interface Settings {
  /**
   * Scheme and port of the web addresses: `{ scheme: 'http', port: 4321 }`. The port is absent if
   * it is the scheme's default.
   */
  scheme: 'http' | 'https'
  port: number | undefined
  /** Whether the operator has declared this machine a developer's machine. */
  dev: boolean
  /**
   * Whether a public address is set. If so, this only counts as a developer's machine when `dev` is
   * set as well.
   */
  hasPublicUrl: boolean
  /**
   * Whether a mail server is set. If not, mails are written to a folder and their links are logged.
   */
  mailServer: boolean
  /** Largest size of an uploaded file in bytes. */
  maxUploadBytes: number
  limits: Limits
}

/**
 * Limits of calls per network address, of verifications per company and of open streams. Load tests
 * raise them in the configuration.
 */
export interface Limits {
  signInPerAddressMinute: number
  signUpPerAddressHour: number
  mailsPerAddressHour: number
  mailsPerCompanyDay: number
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

/** The company that serves a host. A request gets its company only from here. */
export interface Tenant {
  company_id: CompanyId
  host: string
  config: DomainConfig
  /** Whether the installation serves a verified domain other than `*.localhost`. */
  hasOwnDomain: boolean
  /** Why and since when the company is suspended. Undefined for an active company. */
  disabled: { reason: string; since: string } | undefined
}

/**
 * Operations with the installation's secrets. The secrets themselves stay in
 * `server/adapters/keys.ts`.
 */
export interface Keys {
  kekId: string
  /**
   * Returns an HMAC-SHA256 of `data`, with the key that is derived from the root secret for
   * `label`.
   */
  mac(
    label: 'challenge' | 'pseudonym' | 'link' | 'device' | 'repetition',
    data: Uint8Array | string
  ): Buffer
  /**
   * Encrypts bytes with AES-256-GCM. The result contains nonce, ciphertext and tag. `open` needs
   * the same `aad`, which names the row, so the bytes cannot be moved to another row.
   */
  seal(plain: Uint8Array, aad: string): Buffer
  /**
   * Encrypts like `seal`, but deterministically: equal bytes with equal `aad` give equal results,
   * so that a query can find them.
   */
  sealSame(plain: Uint8Array, aad: string): Buffer
  open(sealed: Uint8Array, aad: string): Buffer
  /**
   * Returns the key that signs tokens now. `sign` returns an ES256 signature: r and s, 64 bytes.
   */
  signingKey(): { kid: string; sign(text: string): Buffer }
  verifyingKey(kid: string): CryptoKey | undefined
  /**
   * Reads the token key files again, because a rotation may have added one. Deletes keys that were
   * replaced more than a day ago.
   */
  reload(): Promise<void>
}

export interface CompanyKeys {
  /** The key of the tags in the tables `lookup_tag` and `blob`. */
  lookup: KeyObject
  /** The key that encrypts the openings of records. */
  data: KeyObject
}

/** Decrypts the keys of each company once per process and keeps them in memory. */
export interface CompanyKeyring {
  /** Returns the keys of the transaction's company. */
  read(tx: Tx): Promise<CompanyKeys>
  /** Returns the keys of a company. Opens a transaction of its own if they are not in memory. */
  open(company: CompanyId): Promise<CompanyKeys>
}

/**
 * The contents of an access token. It contains no name and no permission, because scripts can read
 * its cookie.
 */
export interface TokenClaims {
  user_id: string
  session_id: string
  pending: boolean
  signedIn: Date
  expires: Date
}

/** Verifies the signature of each access token once per process. */
export interface TokenReader {
  /**
   * Returns the contents of a token that was issued for this host. Throws `unauthenticated` for
   * every other token.
   */
  read(tenant: Tenant, token: string, now: Date): Promise<TokenClaims>
}

/**
 * Names the file of an incomplete upload. When another process takes over the upload, it writes the
 * file of the next generation.
 */
export interface StagedFile {
  company_id: CompanyId
  id: string
  generation: number
}

/**
 * The stored bytes of documents. A file is staged while its bytes arrive. Then it is kept under a
 * tag, which is a keyed hash of its bytes.
 */
export interface Blobs {
  /** The folder that contains the staged files of all companies. */
  stagingDirectory: string
  stagingFile(staged: StagedFile): string
  /** Returns the size of a staged file in bytes, or undefined if it does not exist. */
  sizeStaged(staged: StagedFile): Promise<number | undefined>
  /**
   * Copies the staged file of an earlier generation to the given one and deletes the earlier one.
   */
  takeOverStaged(staged: StagedFile): Promise<void>
  /**
   * Creates the company's folder for staged files. The folder survives a power failure, like
   * everything that these methods write.
   */
  prepareStaging(company: CompanyId): Promise<void>
  /** Flushes a staged file to disk. Throws if the disk fails. */
  syncStaged(staged: StagedFile): Promise<void>
  /** Returns the SHA-256 of a staged file, or undefined if it does not exist. */
  digestStaged(staged: StagedFile): Promise<FileDigest | undefined>
  digestKept(company: CompanyId, tag: Uint8Array): Promise<FileDigest | undefined>
  /** Returns the size of a kept file in bytes, or undefined if it does not exist. */
  sizeKept(company: CompanyId, tag: Uint8Array): Promise<number | undefined>
  /**
   * Moves a staged file to its final path, durably. If a kept file of the same size exists there,
   * keeps that one and deletes the staged one, because other deposits may refer to it. `damaged` is
   * the inode of a kept file that must be replaced.
   */
  keep(staged: StagedFile, tag: Uint8Array, damaged?: number): Promise<void>
  discardStaged(staged: StagedFile): Promise<void>
  /**
   * Writes a complete staged file of generation 0 and flushes it to disk, for bytes that do not
   * come from an upload.
   */
  stage(company: CompanyId, upload: string, bytes: Uint8Array): Promise<void>
  /** Deletes all staged and kept files of a company. Leaves the note that `noteRemoval` wrote. */
  removeCompany(company: CompanyId): Promise<void>
  /**
   * Writes a note that the company is removed. If the process ends before the files are deleted,
   * the note tells the next one to delete them.
   */
  noteRemoval(company: CompanyId): Promise<void>
  listRemovals(): Promise<{ company: CompanyId; at: Date }[]>
  forgetRemoval(company: CompanyId): Promise<void>
  /**
   * Returns the bytes of a kept file: all, or those from `start` to `end` (inclusive). Throws if
   * the file does not exist. The file is open when the promise resolves, so a later deletion does
   * not interrupt the reading.
   */
  read(
    company: CompanyId,
    tag: Uint8Array,
    range?: { start: number; end: number }
  ): Promise<ReadableStream<Uint8Array>>
  discardKept(company: CompanyId, tag: Uint8Array): Promise<void>
  /** Returns the staged files of a company that were last written before `before`. */
  listStaged(company: CompanyId, before: Date): Promise<StagedFile[]>
  /** Yields the tags of all kept files of a company. */
  listKept(company: CompanyId): AsyncIterable<Buffer>
  /** Returns when a kept file was last written or moved, or undefined if it does not exist. */
  changedKept(company: CompanyId, tag: Uint8Array): Promise<Date | undefined>
}

/**
 * The reason for a mail. For `signup` and `reset`, the letter is chosen when the mail is sent. A
 * person who already has an account gets a different letter.
 */
export type MailKind =
  | 'signup'
  | 'activate'
  | 'reset'
  | 'email_confirm'
  | 'email_notice'
  | 'password_changed'
  | 'account_deleted'

/** A mail as data. The mail adapter turns it into text and sends it. */
export interface Letter {
  /** The same id in every attempt, so that a mail server can drop a repetition. */
  id: string
  kind: 'verify' | 'known' | Exclude<MailKind, 'signup'>
  to: string
  locale: Locale
  from: { host: string; company: string; colors: Colours; contact: string | undefined }
  link: string
}

/** Sends letters through the mail server. */
export interface MailSender {
  /**
   * Sends a letter. Returns `refused` if the mail server rejects the address or the letter
   * permanently. Throws if another attempt may succeed.
   */
  send(letter: Letter): Promise<'sent' | 'refused'>
}

export interface FileDigest {
  sha256: Buffer
  size: number
  /** The inode number, which differs when another file has replaced this one. */
  inode: number
}

/**
 * Signals between parts of the service, sent after a commit. Some also reach other processes.
 * Signals can be lost, so every listener also looks at intervals.
 */
export interface Signals {
  /** Sent when a person has new events. */
  events: Signal<PersonKey>
  /** Sent when an upload is complete and its deposit can be created. */
  uploads: Signal
  /** Sent when a mail was queued. */
  mails: Signal
  /** Sent when a person's session has ended or their permissions have changed. */
  sessions: Signal<PersonKey>
  /** Sent when a process wants to write an upload that another process is writing. */
  writers: Signal<{ company: CompanyId; upload: string }>
  /** Sent when the configuration of a domain has changed. */
  domains: Signal<string>
  /** Sent when signals of other processes may have been lost. Listeners then check everything. */
  missed: Signal<void>
}

export interface PersonKey {
  company: CompanyId
  user: string
}

export interface Signal<T = CompanyId> {
  send(value: T): void
  /** Registers a listener. Returns the function that unregisters it. */
  on(listener: (value: T) => void): () => void
}

export interface Log {
  info(facts: object, text: string): void
  warn(facts: object, text: string): void
  error(facts: object, text: string): void
}
