-- Platform: which keys this installation uses. One row, written at first start.
create table installation (
  only_row boolean primary key default true check (only_row),
  kek_id text not null,
  created_at timestamptz not null
);

create table company (
  id uuid primary key,
  name text not null,
  created_at timestamptz not null,
  -- { reason, since } while the company is suspended
  disabled jsonb
);

create table domain (
  company_id uuid not null references company (id),
  id uuid not null,
  -- 'docs.acme.fr', or '*.acme.fr' which stands for exactly one label
  host text not null check (host = lower(host)),
  name text not null,
  title text not null,
  public boolean not null,
  locale text not null check (locale in ('en', 'fr')),
  theme jsonb not null,
  contact text,
  version bigint not null default 1,
  verified_at timestamptz,
  primary key (company_id, id)
);
-- The one key across companies: a host names one company, whoever asks first.
create unique index domain_host on domain (host);

create table "user" (
  company_id uuid not null references company (id),
  id uuid not null,
  -- random reference under which records name the person, 22 characters
  account text not null
    default translate(rtrim(encode(uuid_send(gen_random_uuid()), 'base64'), '='), '+/', '-_'),
  email text not null,
  username text not null,
  locale text not null default 'und' check (locale in ('en', 'fr', 'und')),
  permissions text[] not null default '{}',
  -- { reason, since } while the person is disabled
  disabled jsonb,
  tokens_valid_after timestamptz not null,
  created_at timestamptz not null,
  primary key (company_id, id),
  unique (company_id, email)
);

-- Public keys verify passwords offline, so they rest encrypted. The newest unretired one signs in.
create table user_key (
  company_id uuid not null,
  user_id uuid not null,
  key_id uuid not null,
  kdf text not null,
  pub_enc bytea not null,
  kek_id text not null,
  created_at timestamptz not null,
  retired_at timestamptz,
  primary key (company_id, user_id, key_id),
  foreign key (company_id, user_id) references "user" (company_id, id)
);

create table session (
  company_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  -- browser family, for the list of devices
  agent text not null,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  primary key (company_id, id),
  foreign key (company_id, user_id) references "user" (company_id, id)
);
create index session_by_user on session (company_id, user_id);

-- A challenge is answered once.
create table used_challenge (
  company_id uuid not null references company (id),
  n text not null,
  expires_at timestamptz not null,
  primary key (company_id, n)
);

create table "group" (
  company_id uuid not null references company (id),
  id uuid not null,
  name text not null,
  is_default boolean not null default false,
  features text[] not null default '{}',
  -- null = unlimited
  max_requests bigint check (max_requests >= 0),
  -- null = total
  max_requests_interval text check (max_requests_interval in ('P1D', 'P30D', 'P1Y')),
  max_storage bigint check (max_storage >= 0),
  created_at timestamptz not null,
  primary key (company_id, id)
);
create unique index group_default on "group" (company_id) where is_default;

create table group_user (
  company_id uuid not null,
  group_id uuid not null,
  user_id uuid not null,
  primary key (company_id, group_id, user_id),
  foreign key (company_id, group_id) references "group" (company_id, id),
  foreign key (company_id, user_id) references "user" (company_id, id)
);
create index group_user_user on group_user (company_id, user_id);

create table category (
  company_id uuid not null references company (id),
  id uuid not null,
  names jsonb not null,
  visibility text not null check (visibility in ('public', 'receipt_only', 'private')),
  created_at timestamptz not null,
  primary key (company_id, id)
);

create table group_category (
  company_id uuid not null,
  group_id uuid not null,
  category_id uuid not null,
  primary key (company_id, group_id, category_id),
  foreign key (company_id, group_id) references "group" (company_id, id),
  foreign key (company_id, category_id) references category (company_id, id)
);

-- What a group has used and promised, never counted, always kept. Storage has one period, 'epoch'.
create table usage (
  company_id uuid not null,
  group_id uuid not null,
  kind text not null check (kind in ('requests', 'storage')),
  period_start timestamptz not null,
  used bigint not null default 0 check (used >= 0),
  reserved bigint not null default 0 check (reserved >= 0),
  primary key (company_id, group_id, kind, period_start),
  foreign key (company_id, group_id) references "group" (company_id, id)
);

-- Keys of a company, sealed under the root secret.
create table company_key (
  company_id uuid not null references company (id),
  kind text not null check (kind in ('lookup', 'data')),
  version integer not null,
  sealed bytea not null,
  kek_id text not null,
  created_at timestamptz not null,
  primary key (company_id, kind, version)
);

-- One row a company: its record's origin and its event counter, locked last in every transaction.
create table log_head (
  company_id uuid primary key references company (id),
  origin text not null unique,
  event_seq bigint not null default 0
);

create table request (
  company_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  kind text not null check (kind in ('deposit', 'verify')),
  state text not null check (
    state in ('uploading', 'queued', 'processing', 'done', 'cancelled', 'lapsed', 'rejected', 'failed')
  ),
  code text,
  seq bigint not null,
  created_at timestamptz not null,
  -- members of the wire form that only one kind has: name, size, media_type, deposit_id, verdict, …
  facts jsonb not null,
  primary key (company_id, id),
  foreign key (company_id, user_id) references "user" (company_id, id)
);
create index request_history on request (company_id, user_id, created_at desc, id desc);

create table event (
  company_id uuid not null references company (id),
  seq bigint not null,
  user_id uuid not null,
  request_id uuid not null,
  payload jsonb not null,
  created_at timestamptz not null,
  primary key (company_id, seq)
);
create index event_user on event (company_id, user_id, seq);

create table upload (
  company_id uuid not null,
  id text not null,
  request_id uuid not null,
  user_id uuid not null,
  category_id uuid not null,
  record_id text not null,
  size bigint not null check (size > 0),
  media_type text not null,
  name text not null,
  -- declared digests, forgotten when the deposit commits
  original bytea,
  stored bytea,
  transform jsonb,
  state text not null check (state in ('uploading', 'received', 'settled')),
  -- the reservation
  group_id uuid not null,
  period_start timestamptz not null,
  leased_until timestamptz,
  attempts integer not null default 0,
  created_at timestamptz not null,
  active_at timestamptz not null,
  primary key (company_id, id),
  -- deferred: the request is published last, because that locks the head
  foreign key (company_id, request_id) references request (company_id, id)
    deferrable initially deferred,
  foreign key (company_id, group_id) references "group" (company_id, id),
  foreign key (company_id, category_id) references category (company_id, id)
);
create unique index upload_request on upload (company_id, request_id);
create index upload_open on upload (company_id, state) where state <> 'settled';

-- Stored bytes, one file per content and company, named by a keyed tag so that no listing is an index.
create table blob (
  company_id uuid not null references company (id),
  tag bytea not null,
  size bigint not null,
  refs integer not null,
  created_at timestamptz not null,
  primary key (company_id, tag)
);

create table deposit (
  company_id uuid not null,
  -- record id, 22 characters
  id text not null,
  request_id uuid not null,
  user_id uuid not null,
  category_id uuid not null,
  visibility text not null,
  blob_tag bytea not null,
  recorded_at timestamptz not null,
  primary key (company_id, id),
  foreign key (company_id, request_id) references request (company_id, id),
  foreign key (company_id, category_id) references category (company_id, id),
  foreign key (company_id, blob_tag) references blob (company_id, tag)
);
create unique index deposit_request on deposit (company_id, request_id);

-- Salts, values and link key of a record, encrypted under the company's data key.
create table deposit_opening (
  company_id uuid not null,
  record_id text not null,
  key_version integer not null,
  sealed bytea not null,
  primary key (company_id, record_id),
  foreign key (company_id, record_id) references deposit (company_id, id)
);

-- Leaves in the order of their commit; the record's tree will number them.
create table log_leaf (
  company_id uuid not null references company (id),
  seq bigint not null,
  record_id text not null,
  leaf text not null,
  hash bytea not null,
  primary key (company_id, seq)
);
create unique index log_leaf_record on log_leaf (company_id, record_id);

-- The only index by fingerprint: keyed tags.
create table lookup_tag (
  company_id uuid not null,
  scheme smallint not null,
  key_version integer not null,
  tag bytea not null,
  record_ref text not null,
  which text not null check (which in ('original', 'stored_copy')),
  primary key (company_id, scheme, key_version, tag, record_ref, which),
  foreign key (company_id, record_ref) references deposit (company_id, id)
);

-- Answers already given, so that a repeated call creates nothing twice.
create table idempotency (
  company_id uuid not null references company (id),
  actor uuid not null,
  route text not null,
  key text not null,
  fingerprint bytea not null,
  status integer,
  body jsonb,
  created_at timestamptz not null,
  primary key (company_id, actor, route, key)
);

grant usage on schema public to vidimus_app, vidimus_resolver;
grant select, insert, update on installation to vidimus_app;
grant select, insert, update on
  company, domain, "user", user_key, session, "group", category, usage, company_key, log_head,
  request, upload, blob, idempotency, used_challenge to vidimus_app;
grant select, insert on log_leaf, event, deposit, deposit_opening, lookup_tag to vidimus_app;
grant select, insert, delete on group_user, group_category to vidimus_app;
grant delete on used_challenge, idempotency, event, session, blob to vidimus_app;

-- Row-level security: without a company set, every tenant table is empty.
do $$
declare
  name text;
begin
  foreach name in array array[
    'domain', 'user', 'user_key', 'session', 'used_challenge', 'group', 'group_user', 'category',
    'group_category', 'usage', 'company_key', 'log_head', 'request', 'event', 'upload', 'blob',
    'deposit', 'deposit_opening', 'log_leaf', 'lookup_tag', 'idempotency'
  ] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    -- nullif: the setting reads '' and not null after a transaction that had set it locally
    execute format(
      'create policy tenant on %I using (company_id = nullif(current_setting(''app.company_id'', true), '''')::uuid)
       with check (company_id = nullif(current_setting(''app.company_id'', true), '''')::uuid)', name);
  end loop;
end $$;
alter table company enable row level security;
alter table company force row level security;
create policy tenant on company
  using (id = nullif(current_setting('app.company_id', true), '')::uuid)
  with check (id = nullif(current_setting('app.company_id', true), '')::uuid);

-- The only two doors across companies.
grant select on company, domain to vidimus_resolver;
create policy resolver on company for select to vidimus_resolver using (true);
create policy resolver on domain for select to vidimus_resolver using (true);

create function resolve_host(wanted text)
returns table (
  company_id uuid, company_name text, company_disabled jsonb, domain_id uuid, host text, name text,
  title text, public boolean, locale text, theme jsonb, contact text, version bigint
)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select d.company_id, c.name, c.disabled, d.id, d.host, d.name, d.title, d.public, d.locale, d.theme,
         d.contact, d.version
  from public.domain d join public.company c on c.id = d.company_id
  where d.verified_at is not null
    and (d.host = wanted
      or (d.host = '*.' || substr(wanted, strpos(wanted, '.') + 1)
          and strpos(wanted, '.') > 1 and left(wanted, strpos(wanted, '.') - 1) <> 'api'))
  order by d.host = wanted desc
  limit 1
$$;

create function list_companies() returns setof uuid
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$ select id from public.company order by id $$;

alter function resolve_host(text) owner to vidimus_resolver;
alter function list_companies() owner to vidimus_resolver;
revoke all on function resolve_host(text), list_companies() from public;
grant execute on function resolve_host(text), list_companies() to vidimus_app;
