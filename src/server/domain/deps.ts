import type { KeyObject } from 'node:crypto'
import type { RateLimiterMemory } from 'rate-limiter-flexible'
import type { Colors, DnsOutcome, DomainConfig, Locale } from '../../contract/domains.ts'
import type { AppError } from '../../contract/kit/errors.ts'
import type { Db } from '../db/open.ts'
import type { SuspensionMark } from '../db/schema.ts'
import type { CompanyId, Tx } from '../db/scope.ts'

export type { CompanyId } from '../db/scope.ts'

/**
 * Everything that the domain depends on. Tests provide their own values instead of mocking modules.
 */
export interface Deps {
  db: Db
  keys: InstallationKeys
  companyKeys: CompanySecretKeyReader
  tokens: AccessTokenReader
  /** The counters of the rate limits, in memory. `rate-limits.ts` builds their keys. */
  counters: Map<string, RateLimiterMemory>
  blobs: BlobStore
  mails: MailSender
  /** Undefined in an installation without DNS checks. */
  dns: DnsLookup | undefined
  clock: () => Date
  /** Returns `length` cryptographically random bytes. */
  random: (length: number) => Uint8Array<ArrayBuffer>
  log: Log
  signals: ServiceSignals
  callers: CallerWatch
  /**
   * The name of this process, by which other processes find out whether it still runs. Undefined if
   * processes do not notify each other.
   */
  process: string | undefined
  settings: InstallationSettings
  /** Aborted when the process stops. Event streams then end. */
  stopping: AbortSignal
}

/** The settings from the configuration that the code in `server/domain` needs. */
export interface InstallationSettings {
  scheme: 'http' | 'https'
  /** Undefined if it is the scheme's default. */
  port: number | undefined
  /** Whether the configuration says that this is a developer's machine. */
  dev: boolean
  /**
   * Whether the configuration sets a public address of the installation. If it does, no HTTP
   * request counts as coming from a developer's machine, unless `dev` is set.
   */
  hasPublicUrl: boolean
  /**
   * Whether a mail server is configured. Without one, mails are written to a folder.
   */
  mailServer: boolean
  maxUploadBytes: number
  limits: TrafficLimitSettings
  bounds: BoundSettings
}

/** How much a company may have, where the operator can raise it. */
export interface BoundSettings {
  domains: number
  groups: number
  categories: number
  people: number
  /** Bytes of all kept imports: their rows, and the reasons why rows are refused. */
  importBytes: number
}

/**
 * Limits of calls per network address, of mails, of verifications and of open event streams. They
 * come from the configuration; load tests raise them.
 */
export interface TrafficLimitSettings {
  signInPerAddressMinute: number
  signUpPerAddressHour: number
  mailsPerAddressHour: number
  mailsPerCompanyDay: number
  /** Maximum number of failed attempts to use mailed links in 15 minutes, per network address. */
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

/**
 * The company whose host an HTTP request addresses, with the host and the configuration of the
 * host's pages.
 */
export interface Tenant {
  company_id: CompanyId
  host: string
  config: DomainConfig
  /** Whether the host belongs to a wildcard domain, such as `*.acme.fr`. */
  isWildcard: boolean
  /**
   * Whether the installation serves any verified domain other than `*.localhost`. If it does, no
   * HTTP request counts as coming from a developer's machine, unless the setting `dev` is set.
   */
  hasOwnDomain: boolean
  /**
   * Whether this is the installation's own company and has not yet proved a host. Its `localhost`
   * pages then stay served, whatever hosts other companies have.
   */
  keepsLocalhost: boolean
  /** Why and since when the company is suspended. Undefined for an active company. */
  disabled: SuspensionMark | undefined
}

/** A company that sends mails, and the host to which links in them lead. */
export type SendingCompany = Pick<Tenant, 'company_id' | 'host'>

/**
 * Operations with the secrets of the installation. Only the implementation,
 * `server/adapters/keys.ts`, sees the secrets.
 */
export interface InstallationKeys {
  /** The id of the root secret. Stored with encrypted data, to tell which secret encrypted it. */
  rootSecretId: string
  /**
   * Returns an HMAC-SHA256 of `data`, 32 bytes. Each label has its own key, which is derived from
   * the root secret.
   */
  mac(
    label: 'challenge' | 'pseudonym' | 'link' | 'device' | 'repetition',
    data: Uint8Array | string
  ): Buffer
  /**
   * Encrypts bytes with AES-256-GCM. Returns nonce, ciphertext and authentication tag. `aad` names
   * the database row that stores the result. `open` needs the same `aad`, so bytes that were copied
   * to another row cannot be decrypted.
   */
  seal(plain: Uint8Array, aad: string): Buffer
  /**
   * Encrypts deterministically: equal bytes with equal `aad` give equal results. So a query can
   * find a row by an encrypted value. The result has the same form as that of `seal`.
   */
  sealSame(plain: Uint8Array, aad: string): Buffer
  /**
   * Decrypts the result of `seal` or `sealSame`. Throws if `aad` differs or the bytes were changed.
   */
  open(sealed: Uint8Array, aad: string): Buffer
  /**
   * Returns the key that signs access tokens now. `kid` is its id. `sign` returns an ES256
   * signature: r and s, 64 bytes.
   */
  signingKey(): { kid: string; sign(text: string): Buffer }
  /**
   * Returns the public key that verifies tokens with this `kid` in their header, or undefined if
   * there is none.
   */
  verifyingKey(kid: string): CryptoKey | undefined
  /**
   * Reads the files of the token keys again, because another process may have added a key. Deletes
   * keys that were replaced more than a day ago.
   */
  reload(): Promise<void>
}

/** The two secret keys of a company, decrypted. */
export interface CompanySecretKeys {
  /** The key of the keyed hashes (tags) in the tables `lookup_tag` and `blob`. */
  lookup: KeyObject
  /** The key that encrypts the openings (salts, values and link keys) of the company's deposits. */
  data: KeyObject
}

/**
 * Provides the secret keys of companies. Decrypts the keys of each company once per process and
 * keeps them in memory.
 */
export interface CompanySecretKeyReader {
  /**
   * Returns the secret keys of the company to which the transaction `tx` belongs. If the keys are
   * not in memory, reads them in `tx`.
   */
  read(tx: Tx): Promise<CompanySecretKeys>
  /**
   * Returns the keys of `company`. If the keys are not in memory, reads them in a separate
   * transaction.
   */
  open(company: CompanyId): Promise<CompanySecretKeys>
}

/**
 * The contents of an access token. They contain no name and no permission, because scripts can read
 * the token.
 */
export interface AccessTokenClaims {
  user_id: string
  session_id: string
  pending: boolean
  signedIn: Date
  expires: Date
}

/** Reads access tokens. Verifies the signature of each token only once per process and host. */
export interface AccessTokenReader {
  /**
   * Returns the contents of a token. Throws `unauthenticated` if the token is invalid, expired or
   * issued for another host.
   */
  read(tenant: Tenant, token: string, now: Date): Promise<AccessTokenClaims>
}

/**
 * Identifies the staged file of an upload, which holds its bytes while they arrive. The generation
 * begins at 0. It grows when another process takes over the upload, and that process writes a file
 * of its own.
 */
export interface StagedFileId {
  company_id: CompanyId
  id: string
  generation: number
}

/**
 * Stores the bytes of documents as files, of two kinds. A staged file belongs to one upload, while
 * its bytes arrive. A kept file belongs to all deposits of the same bytes. Its name is the tag of
 * the file: the keyed hash of its bytes.
 */
export interface BlobStore {
  /**
   * Returns the size of the disk that stores the documents, and how much of it is free, in bytes.
   */
  space(): Promise<{ total: number; free: number }>
  stagingDirectory: string
  stagingFile(staged: StagedFileId): string
  /** Returns the size of a staged file in bytes, or undefined if the file does not exist. */
  sizeStaged(staged: StagedFileId): Promise<number | undefined>
  /**
   * Called after this process has taken over an upload. Copies the file of the previous process to
   * the file `staged`, then deletes the file of the previous process. If several earlier processes
   * have left files, uses the newest one. Does nothing if no process has left a file.
   */
  takeOverStaged(staged: StagedFileId): Promise<void>
  /** Creates the folder for a company's staged files. The folder survives a power failure. */
  prepareStaging(company: CompanyId): Promise<void>
  /** Flushes a staged file and its folder entry to disk. Throws if the disk fails. */
  syncStaged(staged: StagedFileId): Promise<void>
  /** Returns the digest of a staged file, or undefined if the file does not exist. */
  digestStaged(staged: StagedFileId): Promise<FileDigest | undefined>
  /**
   * Returns the digest of the kept file with the tag `tag`. Returns undefined if the file does not
   * exist.
   */
  digestKept(company: CompanyId, tag: Uint8Array): Promise<FileDigest | undefined>
  /**
   * Returns the size in bytes of the kept file with the tag `tag`. Returns undefined if the file
   * does not exist.
   */
  sizeKept(company: CompanyId, tag: Uint8Array): Promise<number | undefined>
  /**
   * Turns the staged file of an upload into the kept file with the tag `tag`, by moving it to the
   * path of the kept file. The move survives a power failure. If the path already has a file of the
   * same size, deletes the staged file instead, because other deposits may refer to the existing
   * file. If the existing file has the inode number `damaged`, its bytes have changed on disk, and
   * the staged file replaces it.
   */
  keep(staged: StagedFileId, tag: Uint8Array, damaged?: number): Promise<void>
  /** Deletes a staged file. Does nothing if the file does not exist. */
  discardStaged(staged: StagedFileId): Promise<void>
  /**
   * Creates the staged file of the upload `upload` with the content `bytes`, and flushes it to
   * disk. Used for uploads whose bytes do not come from a client.
   */
  stage(company: CompanyId, upload: string, bytes: Uint8Array): Promise<void>
  /**
   * Deletes all files of a company: those of deposits and those of uploads in progress. Does not
   * delete the note that `noteRemoval` wrote.
   */
  removeCompany(company: CompanyId): Promise<void>
  /**
   * Writes a note to disk that a company is being removed. If the process ends before it has
   * deleted the company's files, the next process finds the note and deletes them.
   */
  noteRemoval(company: CompanyId): Promise<void>
  listRemovals(): Promise<{ company: CompanyId; at: Date }[]>
  /** Deletes the note that `noteRemoval` wrote. */
  forgetRemoval(company: CompanyId): Promise<void>
  /**
   * Returns the bytes of the kept file with the tag `tag`. With `range`, returns only the bytes
   * from `start` to `end`, both inclusive. Throws if there is no such file. Once the promise has
   * resolved, the stream can be read to its end even if the file is deleted.
   */
  read(
    company: CompanyId,
    tag: Uint8Array,
    range?: { start: number; end: number }
  ): Promise<ReadableStream<Uint8Array>>
  /** Deletes the kept file with the tag `tag`. Does nothing if the file does not exist. */
  discardKept(company: CompanyId, tag: Uint8Array): Promise<void>
  /** Returns the staged files of a company whose last write was before `before`. */
  listStaged(company: CompanyId, before: Date): Promise<StagedFileId[]>
  /** Yields the tag of each kept file of a company: the keyed hash (32 bytes) that names it. */
  listKept(company: CompanyId): AsyncIterable<Buffer>
  /**
   * Returns when the kept file with the tag `tag` was last written or moved. Returns undefined if
   * the file does not exist.
   */
  changedKept(company: CompanyId, tag: Uint8Array): Promise<Date | undefined>
}

/**
 * The kinds of queued mails. The message is chosen only when a mail is sent, because it also
 * depends on the state of the account. For example, if the e-mail already has an account, a mail of
 * kind `signup` becomes a notice.
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

/** The contents of one mail. The mail adapter turns a message into text and HTML and sends it. */
export interface MailMessage {
  /**
   * The same in every attempt to send the mail, so that a mail server can recognize a repetition.
   */
  id: string
  kind: 'verify' | 'known' | Exclude<QueuedMailKind, 'signup'>
  to: string
  locale: Locale
  from: { host: string; company: string; colors: Colors; contact: string | undefined }
  link: string
  /** The API key that the mail is about. */
  key?: { name: string; hint: string; expires: Date }
}

/**
 * The answer of DNS to a query for the TXT records of a name. `values` is empty unless `outcome` is
 * `found`.
 */
export interface DnsAnswer {
  outcome: Exclude<DnsOutcome, 'other_value'>
  values: string[]
}

export interface DnsLookup {
  /** Returns the TXT records of a name. Never throws: a failure is returned as an `outcome`. */
  readTxt(name: string): Promise<DnsAnswer>
  /**
   * Returns the IP addresses of a name, also if it is an alias. Returns an empty list if there are
   * none, and undefined if DNS did not answer. Never throws.
   */
  readAddresses(name: string): Promise<string[] | undefined>
}

export interface MailSender {
  /**
   * Sends a message. Returns `refused` if the mail server permanently rejects the address or the
   * message. Throws if another attempt may succeed.
   */
  send(message: MailMessage): Promise<'sent' | 'refused'>
  /** Deletes mails that were written to files more than 30 days ago. */
  deleteOldFiles?(now: Date): Promise<void>
}

export interface FileDigest {
  sha256: Buffer
  size: number
  /** The inode number of the file on disk. A file that replaces this one has another number. */
  inode: number
}

/**
 * Signals between parts of the service. A signal about a change is sent after the change is
 * committed. Some signals also reach other processes. A signal can get lost, so every listener also
 * looks for changes at intervals.
 */
export interface ServiceSignals {
  /**
   * Sent when a person's history has changed, so that the person's event streams send the change.
   */
  events: ServiceSignal<PersonInCompany>
  /**
   * Sent with the id of a company when an upload in it is complete, so that its deposit can be
   * created.
   */
  uploads: ServiceSignal
  /** Sent with the id of a company when a mail was queued in it. */
  mails: ServiceSignal
  /** Sent with the id of a company when one of its imports is to be checked, run or undone. */
  imports: ServiceSignal
  /**
   * Sent when a session of a person has ended or changed, or the person was disabled or deleted.
   */
  sessions: ServiceSignal<PersonInCompany>
  /**
   * Sent when a process wants to write the bytes of an upload that another process is writing. If
   * the client of the other process sends nothing, the other process stops writing. Otherwise, the
   * other process renews its lease and goes on.
   */
  writers: ServiceSignal<{ company: CompanyId; upload: string }>
  /** Sent with the host of a domain when the domain was added, changed or removed. */
  domains: ServiceSignal<string>
  /** Sent with the id of a company when the company was renamed, suspended or resumed. */
  companies: ServiceSignal
  /**
   * Sent when signals of other processes may have been lost. A listener then checks everything that
   * it watches.
   */
  missed: ServiceSignal<void>
}

/** A caller whose call, event stream, download or upload is under way. */
export interface WatchedCaller {
  person: { id: string; session_id: string; company_id: CompanyId }
  /** The host that the call addresses. */
  host: string
  /** The permissions without which the caller must not continue. */
  permissions: readonly string[]
}

/**
 * Ends what callers have begun when they lose the right to it: when the session or the key ends,
 * the person is disabled or deleted, the company is suspended, a permission is taken away, or the
 * host no longer belongs to the company. This takes less than a second after signals, and otherwise
 * at most two.
 */
export interface CallerWatch {
  /**
   * Watches a caller until the returned function is called. Calls `onEnd` at most once, with the
   * error that a new call of the caller would get.
   */
  watch(caller: WatchedCaller, onEnd: (reason: AppError) => void): () => void
}

/**
 * Identifies a person by the id of their company (`company`) and their own id (`user`). It is the
 * value of the signals `events` and `sessions`.
 */
export interface PersonInCompany {
  company: CompanyId
  user: string
}

/** A signal that is sent with a value of type `T`. By default, the value is the id of a company. */
export interface ServiceSignal<T = CompanyId> {
  /** Calls all listeners with `value`. */
  send(value: T): void
  /** Calls `listener` for each value that is sent, until the returned function is called. */
  on(listener: (value: T) => void): () => void
}

/** The log of the process. Each line has a text, and structured fields (`facts`) for log tools. */
export interface Log {
  info(facts: object, text: string): void
  warn(facts: object, text: string): void
  error(facts: object, text: string): void
}
