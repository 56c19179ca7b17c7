-- Administrators claim hosts, prove them by a DNS record and change how their pages look.
alter table domain
  add column created_at timestamptz not null default now(),
  -- value of the TXT record that proves the host; null where no proof is needed
  add column proof_token text,
  -- what DNS answered last
  add column checked_at timestamptz,
  add column check_outcome text check (check_outcome in (
    'found', 'no_name', 'no_record', 'other_value', 'no_answer', 'server_failed')),
  add column check_values text[] not null default '{}',
  -- since when the record of a proven host has been missing
  add column failing_since timestamptz,
  -- when the host stopped being served for that; verified_at is null then
  add column quarantined_at timestamptz,
  -- number of the look that pages have
  add column theme_number bigint not null default 1,
  -- grows with each change of the draft and each publication
  add column themes_version bigint not null default 1,
  -- the look that only administrators see
  add column draft jsonb,
  add column draft_at timestamptz,
  add column draft_by uuid,
  add constraint domain_quarantine check (quarantined_at is null or verified_at is null);
create index domain_created on domain (company_id, created_at, id);
create index domain_by_host on domain (company_id, host, id);
grant delete on domain to vidimus_app;

-- The looks that were published. The first one of a domain is stored when the second is published.
create table domain_theme (
  company_id uuid not null,
  domain_id uuid not null,
  number bigint not null,
  theme jsonb not null,
  published_at timestamptz not null,
  -- null: it was made with the domain
  published_by uuid,
  -- the look that it repeats
  restored bigint,
  primary key (company_id, domain_id, number),
  foreign key (company_id, domain_id) references domain (company_id, id)
    on delete cascade on update cascade
);
alter table domain_theme enable row level security;
alter table domain_theme force row level security;
create policy tenant on domain_theme
  using (company_id = nullif(current_setting('app.company_id', true), '')::uuid)
  with check (company_id = nullif(current_setting('app.company_id', true), '')::uuid);
grant select, insert, delete on domain_theme to vidimus_app;
-- a demonstration is removed with all its rows
grant select (company_id), delete on domain_theme to vidimus_resolver;
