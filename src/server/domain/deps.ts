import type { KeyObject } from 'node:crypto'
import type { RateLimiterMemory } from 'rate-limiter-flexible'
import type { Colours, DomainConfig, Locale } from '../../contract/domains.ts'
import type { Db } from '../db/open.ts'
import type { CompanyId, Tx } from '../db/scope.ts'

export type { CompanyId, Leaver } from '../db/scope.ts'

/** Everything the domain is given; tests pass their own values instead of mocking modules. */
export interface Deps {
  db: Db
  keys: Keys
  companyKeys: CompanyKeyring
  tokens: TokenReader
  /** Counts calls for the rate limits. */
  counters: Map<string, RateLimiterMemory>
  blobs: Blobs
  mails: Mails
  clock: () => Date
  /** `length` random bytes. */
  random: (length: number) => Uint8Array<ArrayBuffer>
  log: Log
  signals: Signals
  settings: Settings
  /** Aborted when the process stops: streams say good-bye. */
  stopping: AbortSignal
}

export interface Settings {
  /** Scheme and port under which people reach the hosts: `{ scheme: 'http', port: 4321 }`; port absent when usual. */
  scheme: 'http' | 'https'
  port: number | undefined
  /** The operator declares this machine a developer's. */
  dev: boolean
  /** A public address is set, so this is no developer's machine unless `dev` says so. */
  hasPublicUrl: boolean
  /** Mails reach people; otherwise they lie in a folder, and their links in the log. */
  mailServer: boolean
  /** Largest file taken, bytes. */
  maxUploadBytes: number
  limits: Limits
}

/** Calls allowed to one address, checks to one company, and streams held open; load tests raise them by configuration. */
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

/** Who a host belongs to. The resolver is the only source of a request's company. */
export interface Tenant {
  company_id: CompanyId
  host: string
  config: DomainConfig
  /** The installation serves a verified domain outside `*.localhost`. */
  hasOwnDomain: boolean
  /** Set while the company is suspended. */
  disabled: { reason: string; since: string } | undefined
}

/** What the domain asks of the installation's secrets; the secrets themselves never leave `server/adapters/keys.ts`. */
export interface Keys {
  kekId: string
  /** HMAC-SHA256 under the root secret's key of that label. */
  mac(
    label: 'challenge' | 'pseudonym' | 'link' | 'device' | 'repetition',
    data: Uint8Array | string
  ): Buffer
  /** AES-256-GCM: nonce, ciphertext, tag. `aad` binds the bytes to their row. */
  seal(plain: Uint8Array, aad: string): Buffer
  /** As `seal`, but the same bytes under the same `aad` always give the same: they can be looked up. */
  sealSame(plain: Uint8Array, aad: string): Buffer
  open(sealed: Uint8Array, aad: string): Buffer
  /** Current token key, which signs as ES256: r and s, 64 bytes. And the one of a `kid`. */
  signingKey(): { kid: string; sign(text: string): Buffer }
  verifyingKey(kid: string): CryptoKey | undefined
  /** Reads the token keys anew: rotation adds one, and removes what was replaced a day ago. */
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

/** Names the file of an upload whose bytes arrive. Each generation has one writer and a file of its own. */
export interface Staged {
  company_id: CompanyId
  id: string
  generation: number
}

/** Stored bytes: staged while they arrive, then kept under a keyed tag. */
export interface Blobs {
  /** Holds the files of all companies while they arrive. */
  stagingDirectory: string
  stagingFile(staged: Staged): string
  /** Bytes of a staged file; `undefined` when there is none. */
  sizeStaged(staged: Staged): Promise<number | undefined>
  /** Copies what the generations before have of a file into a new one, and removes theirs. */
  takeOverStaged(staged: Staged): Promise<void>
  /** Makes the company's staging folder; like all that follows it survives a power cut. */
  prepareStaging(company: CompanyId): Promise<void>
  /** Makes a staged file survive a power cut; throws when the disk says no. */
  syncStaged(staged: Staged): Promise<void>
  /** Streams a staged or a kept file through SHA-256; `undefined` when there is none. */
  digestStaged(staged: Staged): Promise<Digest | undefined>
  digestKept(company: CompanyId, tag: Uint8Array): Promise<Digest | undefined>
  /** Bytes of a kept file; `undefined` when there is none. */
  sizeKept(company: CompanyId, tag: Uint8Array): Promise<number | undefined>
  /**
   * Moves a staged file to its place, durably. A kept file of the same size stays and the staged one is
   * removed: others may have recorded it. `damaged` is the inode of a kept file to be replaced.
   */
  keep(staged: Staged, tag: Uint8Array, damaged?: number): Promise<void>
  discardStaged(staged: Staged): Promise<void>
  /** Writes the first generation of a staged file whole, for bytes that no connection brings. */
  stage(company: CompanyId, upload: string, bytes: Uint8Array): Promise<void>
  /** Deletes every file of a company, staged and kept; the note of its removal stays. */
  removeCompany(company: CompanyId): Promise<void>
  /** Notes durably that a company is removed, so that its files go whatever ends this process first. */
  noteRemoval(company: CompanyId): Promise<void>
  listRemovals(): Promise<{ company: CompanyId; at: Date }[]>
  forgetRemoval(company: CompanyId): Promise<void>
  /**
   * Bytes from `start` to `end` (inclusive) of a kept file, or all of them. It is open before this
   * answers; throws when it is missing.
   */
  read(
    company: CompanyId,
    tag: Uint8Array,
    range?: { start: number; end: number }
  ): Promise<ReadableStream<Uint8Array>>
  discardKept(company: CompanyId, tag: Uint8Array): Promise<void>
  /** What lies there and was last written before `before`; for the check of files against rows. */
  listStaged(company: CompanyId, before: Date): Promise<Staged[]>
  /** Goes through the tags of a company's kept files, folder by folder. */
  listKept(company: CompanyId): AsyncIterable<Buffer>
  /** When a kept file was last written or moved; `undefined` when there is none. */
  changedKept(company: CompanyId, tag: Uint8Array): Promise<Date | undefined>
}

/** What happened. `signup` and `reset` are decided when they are sent: who is known, gets another letter. */
export type MailKind =
  | 'signup'
  | 'activate'
  | 'reset'
  | 'email_confirm'
  | 'email_notice'
  | 'password_changed'
  | 'account_deleted'

/** One mail as the adapter words it. */
export interface Letter {
  /** The same at every try, so that a mail server can drop a repetition. */
  id: string
  kind: 'verify' | 'known' | Exclude<MailKind, 'signup'>
  to: string
  locale: Locale
  from: { host: string; company: string; colors: Colours; contact: string | undefined }
  link: string
}

/** Brings a letter to the next mail server, in words and colours. */
export interface Mails {
  /**
   * `refused`: this address gets no mail, whoever tries again. Throws where another try makes sense.
   */
  send(letter: Letter): Promise<'sent' | 'refused'>
}

export interface Digest {
  sha256: Buffer
  size: number
  /** Tells the file from another one that is put in its place. */
  inode: number
}

/** Wake-ups, sent after a commit, that other processes may send too; every listener also polls. */
export interface Signals {
  /** A person's events grew. */
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
  /** Wake-ups of other processes may have been lost for a while: look at everything. */
  missed: Signal<void>
}

export interface PersonKey {
  company: CompanyId
  user: string
}

export interface Signal<T = CompanyId> {
  send(value: T): void
  /** Answers the function that stops listening. */
  on(listener: (value: T) => void): () => void
}

export interface Log {
  info(facts: object, text: string): void
  warn(facts: object, text: string): void
  error(facts: object, text: string): void
}
