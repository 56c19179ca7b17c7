import type { KeyObject } from 'node:crypto'
import type { RateLimiterMemory } from 'rate-limiter-flexible'
import type { Colors, DnsOutcome, DomainConfig, Locale } from '../../contract/domains.ts'
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
  /** The counters of the rate limits, in memory. `rate-limits.ts` builds their keys. */
  counters: Map<string, RateLimiterMemory>
  blobs: Blobs
  mails: MailSender
  /** Queries DNS. Undefined in an installation without DNS checks. */
  dns: DnsLookup | undefined
  clock: () => Date
  /** Returns `length` cryptographically random bytes. */
  random: (length: number) => Uint8Array<ArrayBuffer>
  log: Log
  signals: Signals
  /**
   * The name of this process. Other processes use it to find out whether this process still runs.
   * Undefined if processes do not notify each other.
   */
  process: string | undefined
  settings: Settings
  /** Aborted when the process stops. An event stream then ends. */
  stopping: AbortSignal
}

/** The settings of the configuration that the domain needs. */
export interface Settings {
  /** Scheme of the installation's web addresses. */
  scheme: 'http' | 'https'
  /** Port of the installation's web addresses. Undefined if it is the scheme's default. */
  port: number | undefined
  /** Whether the configuration declares this machine a developer's machine. */
  dev: boolean
  /**
   * Whether the configuration sets a public address of the installation. If it does, only `dev`
   * makes this machine a developer's machine.
   */
  hasPublicUrl: boolean
  /**
   * Whether a mail server is configured. Without one, mails are written to a folder and their links
   * are logged.
   */
  mailServer: boolean
  /** The largest accepted size of a file in bytes. */
  maxUploadBytes: number
  limits: Limits
}

/**
 * Limits of calls per network address, of mails and verifications, and of open event streams. The
 * configuration sets them; load tests raise them.
 */
export interface Limits {
  signInPerAddressMinute: number
  signUpPerAddressHour: number
  mailsPerAddressHour: number
  mailsPerCompanyDay: number
  /** Failed attempts to use mailed links in 15 minutes, per network address. */
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

/** The company of the host that was called, with its configuration. */
export interface Tenant {
  company_id: CompanyId
  host: string
  config: DomainConfig
  /** Whether the host belongs to a wildcard domain, such as `*.acme.fr`. */
  isWildcard: boolean
  /**
   * Whether the installation serves any verified domain other than `*.localhost`. If it does, only
   * the setting `dev` makes this machine a developer's machine.
   */
  hasOwnDomain: boolean
  /** Why and since when an operator has suspended the company. Undefined for an active company. */
  disabled: { reason: string; since: string } | undefined
}

/** A company whose mails are sent, and the host to which their links lead if it is served. */
export type Sender = Pick<Tenant, 'company_id' | 'host'>

/**
 * Operations with the secrets of the installation. The secrets never leave the implementation,
 * `server/adapters/keys.ts`.
 */
export interface Keys {
  /** The id of the root secret. */
  kekId: string
  /**
   * Returns an HMAC-SHA256 of `data`, 32 bytes. Each label has a key of its own, which is derived
   * from the root secret.
   */
  mac(
    label: 'challenge' | 'pseudonym' | 'link' | 'device' | 'repetition',
    data: Uint8Array | string
  ): Buffer
  /**
   * Encrypts bytes with AES-256-GCM and returns nonce, ciphertext and authentication tag. `aad`
   * names the database row that stores the result. `open` needs the same `aad`, so encrypted bytes
   * that are copied to another row cannot be decrypted.
   */
  seal(plain: Uint8Array, aad: string): Buffer
  /**
   * Encrypts like `seal`, but equal bytes with equal `aad` give equal results, so that a query can
   * find them.
   */
  sealSame(plain: Uint8Array, aad: string): Buffer
  /**
   * Decrypts the result of `seal` or `sealSame`. Throws if `aad` differs or the bytes were changed.
   */
  open(sealed: Uint8Array, aad: string): Buffer
  /**
   * Returns the key that signs access tokens at present. `kid` is the key's id. `sign` returns an
   * ES256 signature: r and s, 64 bytes.
   */
  signingKey(): { kid: string; sign(text: string): Buffer }
  /**
   * Returns the public key for tokens whose header has this `kid`, or undefined if it is unknown.
   */
  verifyingKey(kid: string): CryptoKey | undefined
  /**
   * Reads the files of the token keys again, because another process may have added a key. Deletes
   * keys that were replaced more than a day ago.
   */
  reload(): Promise<void>
}

/** The two secret keys of a company, decrypted. */
export interface CompanyKeys {
  /** The key of the tags (keyed hashes) in the tables `lookup_tag` and `blob`. */
  lookup: KeyObject
  /** The key that encrypts the openings (salts, values and link keys) of the company's deposits. */
  data: KeyObject
}

/**
 * Provides the secret keys of companies. Decrypts the keys of a company once per process and keeps
 * them in memory.
 */
export interface CompanyKeyring {
  /** Returns the keys of the company of `tx`. */
  read(tx: Tx): Promise<CompanyKeys>
  /**
   * Returns the keys of `company`. If they are not in memory, reads them in a transaction of its
   * own.
   */
  open(company: CompanyId): Promise<CompanyKeys>
}

/**
 * The contents of an access token. They include no name and no permission, because scripts can read
 * the token's cookie.
 */
export interface TokenClaims {
  user_id: string
  session_id: string
  pending: boolean
  signedIn: Date
  expires: Date
}

/** Reads access tokens. Verifies the signature of each token once per process. */
export interface TokenReader {
  /**
   * Returns the contents of a token. Throws `unauthenticated` if the token is invalid, expired or
   * issued for another host.
   */
  read(tenant: Tenant, token: string, now: Date): Promise<TokenClaims>
}

/**
 * Names the staged file of an upload, which holds its bytes while they arrive. The generation
 * begins at 0 and grows when another process takes over the upload, which then writes a file of its
 * own.
 */
export interface StagedFile {
  company_id: CompanyId
  id: string
  generation: number
}

/**
 * The files with the bytes of documents. While bytes arrive, a file is staged: it belongs to one
 * upload. After the deposit it is kept: it is stored under its tag, the keyed hash of its bytes,
 * and all deposits of the same bytes share it.
 */
export interface Blobs {
  /**
   * Returns the size of the disk on which documents are stored, and how much of it is free, in
   * bytes.
   */
  space(): Promise<{ total: number; free: number }>
  /**
   * Path of the folder that contains the staged files (of uploads in progress) of all companies.
   */
  stagingDirectory: string
  /** Returns the full path of a staged file (of an upload in progress). */
  stagingFile(staged: StagedFile): string
  /**
   * Returns the size of a staged file (of an upload in progress) in bytes, or undefined if it does
   * not exist.
   */
  sizeStaged(staged: StagedFile): Promise<number | undefined>
  /**
   * Copies the bytes that another process has staged for the same upload to `staged`, and deletes
   * its file. Takes the file of the highest earlier generation (number of takeovers) that exists.
   * Does nothing if there is none.
   */
  takeOverStaged(staged: StagedFile): Promise<void>
  /**
   * Creates the folder for the staged files (of uploads in progress) of a company, so that it
   * survives a power failure.
   */
  prepareStaging(company: CompanyId): Promise<void>
  /**
   * Flushes a staged file (of an upload in progress) and its folder entry to disk. Throws if the
   * disk fails.
   */
  syncStaged(staged: StagedFile): Promise<void>
  /**
   * Returns the SHA-256 of a staged file (of an upload in progress), or undefined if it does not
   * exist.
   */
  digestStaged(staged: StagedFile): Promise<FileDigest | undefined>
  /**
   * Returns the SHA-256 of a kept file (of recorded deposits), or undefined if it does not exist.
   * `tag` is the keyed hash that names it.
   */
  digestKept(company: CompanyId, tag: Uint8Array): Promise<FileDigest | undefined>
  /**
   * Returns the size of a kept file (of recorded deposits) in bytes, or undefined if it does not
   * exist. `tag` is the keyed hash that names it.
   */
  sizeKept(company: CompanyId, tag: Uint8Array): Promise<number | undefined>
  /**
   * Moves the staged file of an upload to its final path, which `tag` (the keyed hash of its bytes)
   * names, so that it survives a power failure. If a file of the same size is already there, keeps
   * that file and deletes the staged one, because other deposits may refer to the file. `damaged`
   * is the inode of a file that must be replaced nevertheless.
   */
  keep(staged: StagedFile, tag: Uint8Array, damaged?: number): Promise<void>
  /** Deletes a staged file (of an upload in progress). Does nothing if it does not exist. */
  discardStaged(staged: StagedFile): Promise<void>
  /**
   * Writes `bytes` to the staged file of an upload, in generation 0 (before any takeover by another
   * process), and flushes it to disk. Used where no client sends the bytes.
   */
  stage(company: CompanyId, upload: string, bytes: Uint8Array): Promise<void>
  /**
   * Deletes all files of a company: those of deposits and those of uploads in progress. The note
   * that `noteRemoval` wrote stays.
   */
  removeCompany(company: CompanyId): Promise<void>
  /**
   * Writes a note to disk that a company is being removed. If the process ends before the company's
   * files are deleted, the next process finds the note and deletes them.
   */
  noteRemoval(company: CompanyId): Promise<void>
  /** Returns the companies with a note of `noteRemoval`, and when each note was written. */
  listRemovals(): Promise<{ company: CompanyId; at: Date }[]>
  /** Deletes the note that `noteRemoval` wrote. */
  forgetRemoval(company: CompanyId): Promise<void>
  /**
   * Returns the bytes of a kept file (of recorded deposits): all, or those from `start` to `end`,
   * both inclusive. `tag` is the keyed hash that names the file. Throws if the file does not exist.
   * A deletion after the promise has resolved does not interrupt the reading.
   */
  read(
    company: CompanyId,
    tag: Uint8Array,
    range?: { start: number; end: number }
  ): Promise<ReadableStream<Uint8Array>>
  /** Deletes a kept file (of recorded deposits). Does nothing if it does not exist. */
  discardKept(company: CompanyId, tag: Uint8Array): Promise<void>
  /**
   * Returns the staged files (of uploads in progress) of a company whose last write was before
   * `before`.
   */
  listStaged(company: CompanyId, before: Date): Promise<StagedFile[]>
  /**
   * Yields the tag of each kept file (of recorded deposits) of a company: the keyed hash of its
   * bytes. Staged files (of uploads in progress) have none.
   */
  listKept(company: CompanyId): AsyncIterable<Buffer>
  /**
   * Returns when a kept file (of recorded deposits) was last written or moved to its path, or
   * undefined if it does not exist.
   */
  changedKept(company: CompanyId, tag: Uint8Array): Promise<Date | undefined>
}

/**
 * Why a mail is sent. A mail of kind `signup`, `reset` or `activate` may become a different letter,
 * because the state of the account is read only when the mail is sent.
 */
export type MailKind =
  | 'signup'
  | 'activate'
  | 'reset'
  | 'email_confirm'
  | 'email_notice'
  | 'password_changed'
  | 'account_deleted'

/** The contents of one mail. The mail adapter turns a letter into text and sends it. */
export interface Letter {
  /**
   * Id of the mail. It is the same in every attempt to send the mail, so a mail server can
   * recognize a repetition.
   */
  id: string
  kind: 'verify' | 'known' | Exclude<MailKind, 'signup'>
  to: string
  locale: Locale
  from: { host: string; company: string; colors: Colors; contact: string | undefined }
  link: string
}

/**
 * Result of asking DNS for the TXT records of a name. `values` is empty unless `outcome` is
 * `found`.
 */
export interface DnsAnswer {
  outcome: Exclude<DnsOutcome, 'other_value'>
  values: string[]
}

/** Queries DNS. */
export interface DnsLookup {
  /** Returns the TXT records of a name. Never throws: a failure is returned as an `outcome`. */
  readTxt(name: string): Promise<DnsAnswer>
}

/** Sends letters through the mail server. */
export interface MailSender {
  /**
   * Sends a letter. Returns `refused` if the mail server rejects the address or the letter for
   * good. Throws if another attempt may succeed.
   */
  send(letter: Letter): Promise<'sent' | 'refused'>
}

/** The SHA-256 and size of a file on disk, with the inode number of the file that was read. */
export interface FileDigest {
  sha256: Buffer
  size: number
  /** The inode number of the file on disk. A file that replaces this one has another number. */
  inode: number
}

/**
 * Signals between parts of the service. They are sent after the commit of a change, and some also
 * reach other processes. A signal can get lost, so every listener also looks for changes at
 * intervals.
 */
export interface Signals {
  /** Sent when the history of a person has changed, which adds an event to their event stream. */
  events: Signal<PersonId>
  /**
   * Sent with the id of a company when all bytes of one of its uploads have arrived, so that the
   * deposit can be created.
   */
  uploads: Signal
  /** Sent with the id of a company when a mail was queued in it. */
  mails: Signal
  /** Sent with the id of a company when one of its imports is to be checked, run or undone. */
  imports: Signal
  /**
   * Sent when a session of a person has ended or changed, or the person was disabled or deleted.
   */
  sessions: Signal<PersonId>
  /**
   * Sent when a process wants to write the bytes of an upload that another process is writing. The
   * other process then stops.
   */
  writers: Signal<{ company: CompanyId; upload: string }>
  /**
   * Sent with the host of a domain when its configuration has changed, or it was added or removed.
   */
  domains: Signal<string>
  /** Sent when a company was renamed, suspended or resumed. */
  companies: Signal
  /**
   * Sent when signals of other processes may have been lost. A listener then checks everything that
   * it watches.
   */
  missed: Signal<void>
}

/**
 * Identifies a person: their company and their id. The value that the signals `events` and
 * `sessions` send.
 */
export interface PersonId {
  company: CompanyId
  user: string
}

/** A signal with a value of type `T`, the id of a company unless stated otherwise. */
export interface Signal<T = CompanyId> {
  /** Calls all listeners with `value`. */
  send(value: T): void
  /** Calls `listener` for each value that is sent. Returns a function that ends this. */
  on(listener: (value: T) => void): () => void
}

/** The log of the process. Each line has a text and, as `facts`, fields for machines. */
export interface Log {
  info(facts: object, text: string): void
  warn(facts: object, text: string): void
  error(facts: object, text: string): void
}
