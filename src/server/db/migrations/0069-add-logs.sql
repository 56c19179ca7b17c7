-- The public log of each company. Indexes have no gaps: leaves get theirs in the order of their commits, and
-- index 0 is the policy, which a process adds, because SQL has no keys. Older processes write gaps, so they
-- must have stopped.
alter table log_leaf rename column record_id to leaf_id;
alter index log_leaf_record rename to log_leaf_id;
alter table log_leaf
  -- 0 for the company's first log, which a successor follows when it is retired
  add column log_no integer not null default 0,
  add column idx bigint,
  drop constraint log_leaf_pkey;
alter table log_head
  add column log_no integer not null default 0,
  -- `log_state` has the names of all logs, also of those that are retired
  drop constraint log_head_origin_key;
alter table company_key drop constraint company_key_kind_check,
  add constraint company_key_kind_check check (kind in ('lookup', 'data', 'log', 'answers'));

-- The key of the log of all companies' checkpoints. Its origin is fixed by the first policy that names it.
create table platform_key (
  version integer primary key,
  origin text not null,
  sealed bytea not null,
  kek_id text not null,
  created_at timestamptz not null
);

create table log_state (
  company_id uuid not null references company (id),
  log_no integer not null,
  origin text not null unique,
  -- of the company's keys `log` and `answers`
  key_version integer not null,
  -- all but `running` and `retired` are findings of the guard, which signs nothing then
  state text not null check (state in ('running', 'behind', 'forked', 'no_checkpoint', 'retired')),
  published_size bigint not null default 0,
  -- when the monitor last read the published files again, and what it found, null for no fault
  monitored_at timestamptz,
  fault text,
  primary key (company_id, log_no)
);

-- What was signed. Written and signed in one transaction, so that no size has two roots.
create table log_checkpoint (
  company_id uuid not null references company (id),
  log_no integer not null,
  size bigint not null,
  root bytea not null check (octet_length(root) = 32),
  note text not null,
  published_at timestamptz not null,
  primary key (company_id, log_no, size)
);

grant select, insert on platform_key, log_checkpoint to vidimus_app;
grant delete on log_checkpoint to vidimus_app;
grant select, insert, update on log_state to vidimus_app;
do $$
declare
  name text;
begin
  foreach name in array array['log_state', 'log_checkpoint'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format(
      'create policy tenant on %I using (company_id = nullif(current_setting(''app.company_id'', true), '''')::uuid)
       with check (company_id = nullif(current_setting(''app.company_id'', true), '''')::uuid)', name);
    -- a demonstration is removed with all its rows
    execute format('grant select (company_id), delete on %I to vidimus_resolver', name);
  end loop;
end $$;

do $$
declare
  tenant uuid;
begin
  for tenant in select list_companies() loop
    perform set_config('app.company_id', tenant::text, true);
    update log_leaf set idx = placed.idx
      from (select leaf_id, row_number() over (order by seq) as idx from log_leaf where company_id = tenant) placed
     where company_id = tenant and log_leaf.leaf_id = placed.leaf_id;
    update log_head set leaf_seq = (select count(*) from log_leaf where company_id = tenant)
     where company_id = tenant;
    insert into log_state (company_id, log_no, origin, key_version, state)
    select company_id, log_no, origin, 1, 'running' from log_head where company_id = tenant;
  end loop;
  perform set_config('app.company_id', '', true);
end $$;
alter table log_leaf
  alter column log_no drop default,
  alter column idx set not null,
  drop column seq,
  add primary key (company_id, log_no, idx);
