import type { KeyObject } from 'node:crypto'
import type { RateLimiterMemory } from 'rate-limiter-flexible'
import type { Colours, DomainConfig, Locale } from '../../contract/domains.ts'
import type { Db } from '../db/open.ts'
import type { CompanyId, Tx } from '../db/scope.ts'

export type { CompanyId, WaitingClient } from '../db/scope.ts'

/** Everything the domain depends on. Tests pass their own values instead of mocking modules. */
export interface Deps {
  db: Db
  keys: Keys
  companyKeys: CompanyKeyring
  tokens: TokenReader
  /** Counts calls for the rate limits. */
  counters: Map<string, RateLimiterMemory>
  blobs: Blobs
  mails: MailSender
  clock: () => Date
  /** Returns `length` random bytes. */
  random: (length: number) => Uint8Array<ArrayBuffer>
  log: Log
  signals: Signals
  settings: Settings
  /** Aborted when the process stops, so that streams end. */
  stopping: AbortSignal
}

export interface Settings {
  /** Scheme and port under which people reach the hosts: `{ scheme: 'http', port: 4321 }`; port absent when usual. */
  scheme: 'http' | 'https'
  port: number | undefined
  /** The operator declares this a developer's machine. */
  dev: boolean
  /** A public address is set, so this is not a developer's machine unless `dev` is set. */
  hasPublicUrl: boolean
  /** A mail server is set. Otherwise mails are files in a folder and their links are logged. */
  mailServer: boolean
  /** Largest size of a file in bytes. */
  maxUploadBytes: number
  limits: Limits
}

/**
 * Limits of calls per address, of checks per company and of open streams. Load tests raise them by
 * configuration.
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

/** A host with its company. The resolver is the only source of a request's company. */
export interface Tenant {
  company_id: CompanyId
  host: string
  config: DomainConfig
  /** The installation serves a verified domain outside `*.localhost`. */
  hasOwnDomain: boolean
  /** Set while the company is suspended. */
  disabled: { reason: string; since: string } | undefined
}

/** Operations with the installation's secrets, which never leave `server/adapters/keys.ts`. */
export interface Keys {
  kekId: string
  /** Returns an HMAC-SHA256 with the key that the root secret has for that label. */
  mac(
    label: 'challenge' | 'pseudonym' | 'link' | 'device' | 'repetition',
    data: Uint8Array | string
  ): Buffer
  /** Encrypts with AES-256-GCM: nonce, ciphertext, tag. `aad` binds the bytes to their row. */
  seal(plain: Uint8Array, aad: string): Buffer
  /**
   * Encrypts like `seal`, but equal bytes with equal `aad` give equal results, which can be looked
   * up.
   */
  sealSame(plain: Uint8Array, aad: string): Buffer
  open(sealed: Uint8Array, aad: string): Buffer
  /** Returns the current token key, which signs as ES256: r and s, 64 bytes. */
  signingKey(): { kid: string; sign(text: string): Buffer }
  verifyingKey(kid: string): CryptoKey | undefined
  /**
   * Reads the token keys again: a rotation adds one and removes keys that were replaced a day ago.
   */
  reload(): Promise<void>
}

export interface CompanyKeys {
  /** Keys the tags of `lookup_tag` and `blob`. */
  lookup: KeyObject
  /** Encrypts the openings of records. */
  data: KeyObject
}

/** Unseals the keys of each company once per process. */
export interface CompanyKeyring {
  /** Returns the keys of the company of a transaction. */
  read(tx: Tx): Promise<CompanyKeys>
  /** Returns the keys of a company outside a transaction. */
  open(company: CompanyId): Promise<CompanyKeys>
}

/** Contents of an access token. No name and no right, because it lies in a cookie that scripts read. */
export interface TokenClaims {
  user_id: string
  session_id: string
  pending: boolean
  signedIn: Date
  expires: Date
}

/** Checks the signature of each access token once per process. */
export interface TokenReader {
  /** Returns the contents of a token of this host. Throws `unauthenticated` for every other token. */
  read(tenant: Tenant, token: string, now: Date): Promise<TokenClaims>
}

/** Identifies the file of an incomplete upload. Each generation has one writer and its own file. */
export interface StagedFile {
  company_id: CompanyId
  id: string
  generation: number
}

/** Stored bytes: staged while they arrive, then kept under a keyed tag. */
export interface Blobs {
  /** Holds the files of all companies while they arrive. */
  stagingDirectory: string
  stagingFile(staged: StagedFile): string
  /** Returns the size of a staged file, or undefined where there is none. */
  sizeStaged(staged: StagedFile): Promise<number | undefined>
  /** Copies the file of an earlier generation into a new one and deletes the old one. */
  takeOverStaged(staged: StagedFile): Promise<void>
  /** Creates the company's staging folder. Like everything below, it survives a power cut. */
  prepareStaging(company: CompanyId): Promise<void>
  /** Flushes a staged file to disk. Throws where the disk fails. */
  syncStaged(staged: StagedFile): Promise<void>
  /** Returns the SHA-256 of a staged or kept file, or undefined where there is none. */
  digestStaged(staged: StagedFile): Promise<FileDigest | undefined>
  digestKept(company: CompanyId, tag: Uint8Array): Promise<FileDigest | undefined>
  /** Returns the size of a kept file, or undefined where there is none. */
  sizeKept(company: CompanyId, tag: Uint8Array): Promise<number | undefined>
  /**
   * Moves a staged file to its place, durably. Where a kept file of the same size exists, it stays
   * and the staged one is deleted, because others may have recorded it. `damaged` is the inode of a
   * kept file to replace.
   */
  keep(staged: StagedFile, tag: Uint8Array, damaged?: number): Promise<void>
  discardStaged(staged: StagedFile): Promise<void>
  /** Writes a whole staged file of the first generation, for bytes without a connection. */
  stage(company: CompanyId, upload: string, bytes: Uint8Array): Promise<void>
  /** Deletes every staged and kept file of a company. The note of its removal stays. */
  removeCompany(company: CompanyId): Promise<void>
  /**
   * Records durably that a company is removed, so that its files are deleted whatever ends this
   * process.
   */
  noteRemoval(company: CompanyId): Promise<void>
  listRemovals(): Promise<{ company: CompanyId; at: Date }[]>
  forgetRemoval(company: CompanyId): Promise<void>
  /**
   * Returns the bytes of a kept file, all or from `start` to `end` (inclusive). The file is open
   * when this returns. Throws where it is missing.
   */
  read(
    company: CompanyId,
    tag: Uint8Array,
    range?: { start: number; end: number }
  ): Promise<ReadableStream<Uint8Array>>
  discardKept(company: CompanyId, tag: Uint8Array): Promise<void>
  /** Returns staged files last written before `before`. */
  listStaged(company: CompanyId, before: Date): Promise<StagedFile[]>
  /** Yields the tags of a company's kept files, folder by folder. */
  listKept(company: CompanyId): AsyncIterable<Buffer>
  /** Returns when a kept file was last written or moved, or undefined where there is none. */
  changedKept(company: CompanyId, tag: Uint8Array): Promise<Date | undefined>
}

/**
 * Reason of a mail. The letter for `signup` and `reset` is chosen when it is sent: a person with an
 * account gets another one.
 */
export type MailKind =
  | 'signup'
  | 'activate'
  | 'reset'
  | 'email_confirm'
  | 'email_notice'
  | 'password_changed'
  | 'account_deleted'

/** A mail that the adapter words and sends. */
export interface Letter {
  /** The same in every attempt, so that a mail server can drop a repetition. */
  id: string
  kind: 'verify' | 'known' | Exclude<MailKind, 'signup'>
  to: string
  locale: Locale
  from: { host: string; company: string; colors: Colours; contact: string | undefined }
  link: string
}

/** Sends letters to the mail server. */
export interface MailSender {
  /** Returns `refused` where this address never accepts mail. Throws where a retry makes sense. */
  send(letter: Letter): Promise<'sent' | 'refused'>
}

export interface FileDigest {
  sha256: Buffer
  size: number
  /** Distinguishes the file from one that replaces it. */
  inode: number
}

/** Signals that are sent after a commit, here or in another process. Every listener also polls. */
export interface Signals {
  /** A person has new events. */
  events: Signal<PersonKey>
  /** An upload is complete and waits for its deposit. */
  uploads: Signal
  /** A mail waits to be sent. */
  mails: Signal
  /** A person's session ended or their rights changed. */
  sessions: Signal<PersonKey>
  /** A process wants to write an upload that another one is writing. */
  writers: Signal<{ company: CompanyId; upload: string }>
  /** A domain's config changed. */
  domains: Signal<string>
  /** Signals of other processes may have been lost: check everything. */
  missed: Signal<void>
}

export interface PersonKey {
  company: CompanyId
  user: string
}

export interface Signal<T = CompanyId> {
  send(value: T): void
  /** Returns the function that stops listening. */
  on(listener: (value: T) => void): () => void
}

export interface Log {
  info(facts: object, text: string): void
  warn(facts: object, text: string): void
  error(facts: object, text: string): void
}
