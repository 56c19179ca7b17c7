-- A leaf can enter a company's log without a request, so leaves have a counter of their own.
alter table log_head add column leaf_seq bigint not null default 0;

-- The audit log: one chain of entries a company. The head has the number and the hash of the last entry; a
-- company without entries has none.
create table audit_head (
  company_id uuid primary key references company (id),
  seq bigint not null,
  hash bytea not null check (octet_length(hash) = 32)
);

create table audit_entry (
  company_id uuid not null references company (id),
  seq bigint not null,
  id uuid not null,
  created_at timestamptz not null,
  -- who, and the company they belong to
  actor_id uuid not null,
  actor_company_id uuid not null,
  -- the company that was changed; another one where its operator acted elsewhere
  acted_in uuid not null,
  action text not null,
  target_id uuid not null,
  -- salted hash of the changed fields; null where the entry has none
  changes text,
  hash bytea not null check (octet_length(hash) = 32),
  primary key (company_id, seq)
);
create index audit_entry_target on audit_entry (company_id, target_id, seq);

-- What the hash of an entry opens to. Without it the chain still holds, so a person's can be erased.
create table audit_value (
  company_id uuid not null,
  seq bigint not null,
  -- whose personal data it is
  person_id uuid,
  salt bytea not null check (octet_length(salt) = 32),
  changes text not null,
  primary key (company_id, seq),
  foreign key (company_id, seq) references audit_entry (company_id, seq)
);
create index audit_value_person on audit_value (company_id, person_id) where person_id is not null;

grant select, insert, update on audit_head to vidimus_app;
grant select, insert on audit_entry, audit_value to vidimus_app;

do $$
declare
  name text;
begin
  foreach name in array array['audit_head', 'audit_entry', 'audit_value'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format(
      'create policy tenant on %I using (company_id = nullif(current_setting(''app.company_id'', true), '''')::uuid)
       with check (company_id = nullif(current_setting(''app.company_id'', true), '''')::uuid)', name);
    execute format('grant select (company_id), delete on %I to vidimus_resolver', name);
  end loop;
end $$;

-- Whoever serves requests can erase what the audit log tells of one person, and nothing else of it.
grant select (person_id) on audit_value to vidimus_resolver;
create function erase_audit_values(person uuid) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  delete from public.audit_value
  where company_id = nullif(current_setting('app.company_id', true), '')::uuid and person_id = person
$$;
alter function erase_audit_values(uuid) owner to vidimus_resolver;
revoke all on function erase_audit_values(uuid) from public;
grant execute on function erase_audit_values(uuid) to vidimus_app;

-- Until when the session's person need not repeat their password.
alter table session add column confirmed_until timestamptz;
