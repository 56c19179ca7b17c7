-- An import of the rows of a table, and how far it is. The rows lie in import_row until they are erased
-- with the import.
create table import (
  company_id uuid not null references company (id),
  id uuid not null,
  file_name text not null,
  created_at timestamptz not null,
  created_by uuid not null,
  -- when it is erased; until then it can be undone
  expires_at timestamptz not null,
  -- the host to which invitations lead
  host text not null,
  -- { groups, send_invitations, locale }
  options jsonb not null,
  row_count integer not null check (row_count > 0),
  stored_count integer not null default 0 check (stored_count between 0 and row_count),
  stored_bytes bigint not null default 0,
  state text not null default 'open' check (
    state in ('open', 'checking', 'checked', 'running', 'done', 'failed', 'undoing', 'undone')
  ),
  -- who asked for the run or the undo, and the company they belong to
  actor_id uuid,
  actor_company uuid,
  skip_refused boolean not null default false,
  -- the run has committed, and what it did is still to be counted
  applied boolean not null default false,
  -- rows that the job has worked through
  progress integer not null default 0,
  requested_at timestamptz,
  leased_until timestamptz,
  -- tells the job that has the lease from one that has lost it
  generation integer not null default 0,
  -- how often the job has begun since the request
  attempts integer not null default 0,
  -- of the check: how many rows have each verdict
  counts jsonb,
  failure text check (failure in ('changed_meanwhile', 'interrupted')),
  result jsonb,
  undone jsonb,
  primary key (company_id, id)
);
create index import_created on import (company_id, created_at, id);
create index import_work on import (company_id, requested_at, id)
  where state in ('checking', 'running', 'undoing');

create table import_row (
  company_id uuid not null,
  import_id uuid not null,
  -- 1 for the first row of the file
  number integer not null,
  -- as they were sent
  cells jsonb not null,
  bytes integer not null,
  verdict text check (verdict in ('new', 'changed', 'unchanged', 'refused')),
  -- what is wrong with the cells themselves; null where nothing is
  faults jsonb,
  -- why the row is refused: the faults, and what the check found
  reasons jsonb,
  -- why the undo left what the row had created or changed
  kept text check (kept in ('activated', 'changed', 'administrator', 'deleted')),
  -- Of an import of people: what the cells say, in the forms that the table "user" has.
  email text,
  username text,
  locale text,
  group_names text[] not null default '{}',
  -- the person whom the row creates or changes, and the groups that the person joins by it
  user_id uuid,
  group_ids uuid[] not null default '{}',
  -- what the check found, and the undo restores
  former_username text,
  former_locale text,
  primary key (company_id, import_id, number),
  foreign key (company_id, import_id) references import (company_id, id)
);
-- Finds the rows of one file with the same e-mail, and those that an erased account had anywhere.
create index import_row_email on import_row (company_id, email, import_id, number);
create index import_row_user on import_row (company_id, user_id) where user_id is not null;

grant select, insert, update, delete on import, import_row to vidimus_app;
do $$
declare
  name text;
begin
  foreach name in array array['import', 'import_row'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format(
      'create policy tenant on %I using (company_id = nullif(current_setting(''app.company_id'', true), '''')::uuid)
       with check (company_id = nullif(current_setting(''app.company_id'', true), '''')::uuid)', name);
    -- a demonstration is removed with all its rows
    execute format('grant select (company_id), delete on %I to vidimus_resolver', name);
  end loop;
end $$;

-- An undo removes people whom an import has created. Only this function deletes people, and only those who
-- never had a password or a permission. Whoever has a history cannot be removed, because it refers to them.
grant select (id, permissions, activated_at) on "user" to vidimus_resolver;
create function remove_invited_people(people uuid[]) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  delete from public."user"
  where company_id = nullif(current_setting('app.company_id', true), '')::uuid
    and id = any (people) and permissions = '{}' and activated_at is null
$$;
alter function remove_invited_people(uuid[]) owner to vidimus_resolver;
revoke all on function remove_invited_people(uuid[]) from public;
grant execute on function remove_invited_people(uuid[]) to vidimus_app;
