-- Keys with which programs call the API. A revoked key has no row.
create table api_key (
  company_id uuid not null,
  id uuid not null,
  -- whose deposits and history the calls concern. For a key of the company this is an account of its own,
  -- which has the id of the key and counts as deleted from the start, so that no list of people has it
  user_id uuid not null,
  -- the group of a company's key; null for the key of a person
  group_id uuid,
  created_by uuid not null,
  name text not null,
  scopes text[] not null check (cardinality(scopes) > 0),
  -- SHA-256 of the key, which is 256 random bits: it cannot be guessed from its hash
  hash bytea not null check (length(hash) = 32),
  -- the first characters of the key
  hint text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  last_used_at timestamptz,
  primary key (company_id, id),
  unique (company_id, hash),
  foreign key (company_id, user_id) references "user" (company_id, id),
  foreign key (company_id, group_id) references "group" (company_id, id),
  check (group_id is null or user_id = id)
);
create index api_key_of_person on api_key (company_id, user_id, created_at, id);
create index api_key_of_company on api_key (company_id, created_at, id) where group_id is not null;
create index api_key_of_group on api_key (company_id, group_id) where group_id is not null;

grant select, insert, delete, update (last_used_at) on api_key to vidimus_app;
alter table api_key enable row level security;
alter table api_key force row level security;
create policy tenant on api_key
  using (company_id = nullif(current_setting('app.company_id', true), '')::uuid)
  with check (company_id = nullif(current_setting('app.company_id', true), '')::uuid);
grant select (company_id), delete on api_key to vidimus_resolver;
