import type { ColumnType, Generated, GeneratedAlways } from 'kysely'

/** All but `running` and `retired` are findings of the guard: such a log signs nothing. */
export type LogState = 'running' | 'behind' | 'forked' | 'no_checkpoint' | 'copied' | 'retired'

/**
 * The tables as they are after all migrations. Queries return `bigint` columns as numbers. `jsonb`
 * columns are written as JSON text.
 */
export interface Database {
  installation: {
    only_row: Generated<boolean>
    kek_id: string
    created_at: Date
    log_folder_made_at: Date | null
  }
  setup_code: { hash: Buffer; created_at: Date }
  certificate_name: { name: string; wildcard: string; allowed_at: Date }
  rate_count: { counter: Buffer; points: number; expires_at: Date }
  company: {
    id: string
    name: string
    created_at: Date
    disabled: Json<DisabledMark | null>
    demo: 'seeding' | 'ready' | null
    demo_leased_until: Date | null
    version: Generated<number>
    search: GeneratedAlways<string>
  }
  domain: {
    company_id: string
    id: string
    host: string
    name: string
    title: string
    public: boolean
    locale: string
    theme: Json<unknown>
    contact: string | null
    privacy: string | null
    terms: string | null
    version: Generated<number>
    verified_at: Date | null
    created_at: Generated<Date>
    proof_token: string | null
    checked_at: Date | null
    check_outcome: string | null
    check_values: Generated<string[]>
    failing_since: Date | null
    quarantined_at: Date | null
    covered_by: string | null
    covered_before: string | null
    theme_number: Generated<number>
    themes_version: Generated<number>
    draft: Json<unknown>
    draft_at: Date | null
    draft_by: string | null
    is_primary: Generated<boolean>
  }
  domain_theme: {
    company_id: string
    domain_id: string
    number: number
    theme: Json<unknown>
    published_at: Date
    published_by: string | null
    restored: number | null
  }
  user: {
    company_id: string
    id: string
    account: Generated<string>
    email: string
    username: string
    locale: Generated<string>
    permissions: Generated<string[]>
    disabled: Json<DisabledMark | null>
    tokens_valid_after: Date
    created_at: Date
    invited_at: Generated<Date | null>
    imported_by: Generated<string | null>
    invitation_waits: Generated<boolean>
    deleted_at: Generated<Date | null>
    search: GeneratedAlways<string>
    version: Generated<number>
    activated_at: Generated<Date | null>
    /** For a person who was never seen: `-infinity`, which queries return as a number. */
    last_seen_at: ColumnType<Date | number, Date | undefined, Date>
    state: GeneratedAlways<'invited' | 'active' | 'disabled'>
  }
  signup: {
    company_id: string
    id: string
    email: string
    username: string
    locale: string
    key_id: string
    kdf: string
    pub_enc: Buffer
    kek_id: string
    created_at: Date
    expires_at: Date
    host: Generated<string | null>
    search: GeneratedAlways<string>
  }
  invitation: { company_id: string; id: string; recipient: Buffer; due_at: Date }
  email_change: {
    company_id: string
    user_id: string
    email: string
    key_id: string
    kdf: string
    pub_enc: Buffer
    kek_id: string
    created_at: Date
    expires_at: Date
  }
  mail_token: {
    company_id: string
    hash: Buffer
    purpose: string
    subject: string
    email: string
    key_id: string | null
    created_at: Date
    expires_at: Date
    used_at: Date | null
    handed_out: Generated<boolean>
  }
  mail: {
    company_id: string
    id: string
    kind: string
    email: string
    locale: string
    host: string
    subject: string | null
    created_at: Date
    next_at: Date
    attempts: Generated<number>
  }
  user_key: {
    company_id: string
    user_id: string
    key_id: string
    kdf: string
    pub_enc: Buffer
    kek_id: string
    created_at: Date
    retired_at: Date | null
  }
  session: {
    company_id: string
    id: string
    user_id: string
    agent: string
    created_at: Date
    last_seen_at: Date
    expires_at: Date
    revoked_at: Date | null
    pending: Generated<boolean>
    confirmed_until: Generated<Date | null>
  }
  api_key: {
    company_id: string
    id: string
    user_id: string
    group_id: string | null
    created_by: string
    name: string
    scopes: string[]
    hash: Buffer
    hint: string
    created_at: Date
    expires_at: Date
    last_used_at: Generated<Date | null>
    ending_notice: Generated<number | null>
  }
  used_challenge: { company_id: string; n: string; expires_at: Date }
  group: {
    company_id: string
    id: string
    name: string
    is_default: Generated<boolean>
    features: Generated<string[]>
    max_requests: number | null
    max_requests_interval: string | null
    max_storage: number | null
    created_at: Date
    version: Generated<number>
    search: GeneratedAlways<string>
  }
  group_user: {
    company_id: string
    group_id: string
    user_id: string
    imported_by: Generated<string | null>
  }
  category: {
    company_id: string
    id: string
    names: Json<{ en: string; fr: string }>
    visibility: string
    originals: Generated<string>
    is_default: Generated<boolean>
    store: Generated<string>
    media_types: Generated<string[] | null>
    retention: Generated<string | null>
    created_at: Date
    version: Generated<number>
    search: GeneratedAlways<string>
    search_en: GeneratedAlways<string>
    search_fr: GeneratedAlways<string>
  }
  data_source: {
    company_id: string
    id: string
    name: string
    created_at: Date
    version: Generated<number>
    search: GeneratedAlways<string>
    kind: Generated<string>
    register_id: string
    position: Generated<number>
    columns: Json<StoredRegisterColumn[]>
    dialect: Json<StoredCsvDialect | null>
    number: Generated<number>
    segments: Generated<number[]>
    last_segment: Generated<number>
    checked_at: Generated<Date | null>
  }
  register_segment: {
    company_id: string
    source_id: string
    number: number
    rows: number
    root: Buffer
    erased: Generated<boolean>
  }
  register_version: {
    company_id: string
    source_id: string
    number: number
    segments: number[]
    rows: number
    root: Buffer
    mode: string
    columns: Json<StoredRegisterColumn[]>
    added: number
    changed: number
    removed: number
    actor_id: string | null
    actor_company: string | null
    created_at: Date
    erased_at: Generated<Date | null>
  }
  register_import: {
    company_id: string
    id: string
    source_id: string
    mode: string
    file_name: string | null
    bytes: number | null
    upload_id: string | null
    address: Buffer | null
    dialect: Json<StoredCsvDialect>
    columns: Json<StoredRegisterColumn[]>
    state: string
    segment: Generated<number | null>
    rows: Generated<number>
    refused_bytes: Generated<number>
    step: Generated<string | null>
    progress: Generated<number>
    counts: Json<Record<'new' | 'changed' | 'unchanged' | 'removed' | 'refused', number> | null>
    warnings: Generated<string[]>
    failure: Generated<string | null>
    failure_row: Generated<number | null>
    checked_number: Generated<number | null>
    number: Generated<number | null>
    run_when_checked: Generated<boolean>
    skip_refused: Generated<boolean>
    created_at: Date
    created_by: string
    actor_id: Generated<string | null>
    actor_company: Generated<string | null>
    requested_at: Generated<Date | null>
    leased_until: Generated<Date | null>
    leased_by: Generated<string | null>
    generation: Generated<number>
    attempts: Generated<number>
  }
  register_row: {
    company_id: string
    source_id: string
    segment: number
    number: number
    tag: Buffer
    content: Buffer
    row_hash: Buffer
    sealed: Buffer
  }
  register_fault: {
    company_id: string
    import_id: string
    number: number
    reasons: Json<{ code: string; header?: string }[]>
    sealed: Buffer
  }
  lookup_miss: { company_id: string; counter: Buffer; misses: number; expires_at: Date }
  category_data_source: { company_id: string; category_id: string; source_id: string }
  group_category: { company_id: string; group_id: string; category_id: string }
  usage: {
    company_id: string
    group_id: string
    kind: string
    period_start: Date
    used: Generated<number>
    reserved: Generated<number>
  }
  user_usage: {
    company_id: string
    user_id: string
    group_id: string
    kind: string
    period_start: Date
    used: number
  }
  usage_day: {
    company_id: string
    group_id: string
    /** A day in UTC. */
    day: string
    deposits: Generated<number>
    verifications: Generated<number>
    bytes: Generated<number>
    failed: Generated<number>
  }
  company_key: {
    company_id: string
    kind: string
    version: number
    sealed: Buffer
    kek_id: string
    created_at: Date
  }
  log_head: {
    company_id: string
    // of the current log, whose leaves have its name in their commitments
    origin: string
    log_no: Generated<number>
    event_seq: Generated<number>
    /** Index of the last leaf. */
    leaf_seq: Generated<number>
  }
  log_state: {
    company_id: string
    log_no: number
    origin: string
    key_version: number
    state: LogState
    published_size: Generated<number>
    monitored_at: Date | null
    fault: string | null
  }
  log_checkpoint: {
    company_id: string
    log_no: number
    size: number
    root: Buffer
    note: string
    published_at: Date
  }
  platform_key: {
    version: number
    origin: string
    sealed: Buffer
    kek_id: string
    created_at: Date
  }
  audit_head: { company_id: string; seq: number; hash: Buffer }
  audit_entry: {
    company_id: string
    seq: number
    id: string
    created_at: Date
    actor_id: string
    actor_company_id: string
    acted_in: string
    action: string
    target_id: string
    changes: string | null
    hash: Buffer
  }
  audit_value: {
    company_id: string
    seq: number
    person_id: string | null
    salt: Buffer
    changes: string
  }
  history_reading: { company_id: string; reader_id: string; entered_at: Date }
  request: {
    company_id: string
    id: string
    user_id: string
    kind: string
    state: string
    code: string | null
    seq: number
    created_at: Date
    facts: Json<Record<string, unknown>>
    search_name: Generated<string | null>
    category_id: Generated<string | null>
  }
  event: {
    company_id: string
    seq: number
    user_id: string
    request_id: string
    payload: Json<Record<string, unknown>>
    created_at: Date
  }
  upload: {
    company_id: string
    id: string
    /** `register` brings the file of an import, which has no entry of the history. */
    purpose: Generated<string>
    import_id: Generated<string | null>
    request_id: OfDeposit<string>
    user_id: string
    category_id: OfDeposit<string>
    record_id: OfDeposit<string>
    size: number
    media_type: string
    name: string
    original: Generated<Buffer | null>
    stored: Generated<Buffer | null>
    kek_id: Generated<string | null>
    transform: Json<Record<string, unknown> | null>
    state: string
    group_id: OfDeposit<string>
    period_start: OfDeposit<Date>
    leased_until: Generated<Date | null>
    attempts: Generated<number>
    created_at: Date
    active_at: Date
    generation: Generated<number>
    writer: Generated<string | null>
    writer_until: Generated<Date | null>
    held_at: Generated<Date | null>
    failure: Generated<string | null>
    released: Generated<number>
  }
  blob: { company_id: string; tag: Buffer; size: number; refs: number; created_at: Date }
  deposit: {
    company_id: string
    id: string
    request_id: string
    user_id: string
    category_id: string
    visibility: string
    blob_tag: Buffer | null
    recorded_at: Date
    keep_until: Generated<Date | null>
    erased_at: Generated<Date | null>
    group_id: Generated<string | null>
  }
  deposit_opening: { company_id: string; record_id: string; key_version: number; sealed: Buffer }
  log_leaf: {
    company_id: string
    log_no: number
    idx: number
    leaf_id: string
    leaf: string
    hash: Buffer
  }
  lookup_tag: {
    company_id: string
    scheme: number
    key_version: number
    tag: Buffer
    record_ref: string
    user_id: string
    which: string
  }
  import: {
    company_id: string
    id: string
    file_name: string
    created_at: Date
    created_by: string
    expires_at: Date
    host: string
    options: Json<StoredUserImportOptions>
    row_count: number
    stored_count: Generated<number>
    stored_bytes: Generated<number>
    /** What the rows take up in the database, with the reasons that a check may write. */
    kept_bytes: Generated<number>
    state: Generated<string>
    actor_id: string | null
    actor_company: string | null
    skip_refused: Generated<boolean>
    applied: Generated<boolean>
    progress: Generated<number>
    requested_at: Date | null
    leased_until: Date | null
    leased_by: Generated<string | null>
    generation: Generated<number>
    attempts: Generated<number>
    counts: Json<Record<'new' | 'changed' | 'unchanged' | 'refused' | 'skipped', number> | null>
    failure: string | null
    result: Json<{
      created: number
      changed: number
      unchanged: number
      skipped: number
      differs: boolean
    } | null>
    undone: Json<{ removed: number; restored: number; kept: number } | null>
  }
  import_row: {
    company_id: string
    import_id: string
    number: number
    cells: Json<Record<string, unknown>>
    bytes: number
    kept_bytes: number
    verdict: string | null
    faults: Json<unknown[] | null>
    reasons: Json<unknown[] | null>
    kept: string | null
    email: string | null
    username: string | null
    locale: string | null
    group_names: Generated<string[]>
    user_id: string | null
    group_ids: Generated<string[]>
    former_username: string | null
    former_locale: string | null
  }
  idempotency: {
    company_id: string
    actor: string
    route: string
    key: string
    fingerprint: Buffer
    status: number | null
    body: Json<unknown>
    created_at: Date
  }
}

export interface DisabledMark {
  reason: string
  since: string
}

/** `verification` is absent in marks of earlier releases. */
export interface SuspensionMark extends DisabledMark {
  verification?: 'open' | 'closed'
}

export interface StoredUserImportOptions {
  groups: string[]
  send_invitations: boolean
  locale: 'en' | 'fr' | null
}

interface StoredRegisterColumn {
  index: number
  header: string
  use: 'fingerprint' | 'reference' | 'check' | 'shown'
  shown: boolean
  date?: 'ymd' | 'dmy' | 'mdy' | undefined
  labels: { en: string; fr: string }
}

interface StoredCsvDialect {
  delimiter: string
  encoding: string
  newline: '\n' | '\r\n' | '\r' | 'mixed'
  has_header: boolean
  first_row: number
}

type Json<T> = ColumnType<T, string | (null extends T ? null : never), string | null>

/** Null in uploads for registers. Queries that read it are about deposits. */
type OfDeposit<T> = ColumnType<T, T | undefined, T>
