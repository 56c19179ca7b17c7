-- Registers: lists of a company in which verification also looks. No column holds a fingerprint, a
-- reference, a check value or a shown value in the clear: a row is found by its tag and opened with the
-- company's key.
alter table data_source
  add column kind text not null default 'csv' check (kind in ('csv')),
  -- names the register in the leaves of the log
  add column register_id text,
  add column position integer not null default 0,
  -- of the last import that ran
  add column columns jsonb not null default '[]',
  add column dialect jsonb,
  -- the current version, 0 before the first, and the segments whose rows it consists of
  add column number integer not null default 0,
  add column segments integer[] not null default '{}',
  -- of all segments that were ever begun
  add column last_segment integer not null default 0,
  add column checked_at timestamptz;
update data_source set register_id = translate(
  left(encode(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 'base64'), 22), '+/', '-_');
alter table data_source alter column register_id set not null;
create unique index data_source_register on data_source (company_id, register_id);

-- The rows of one import, in the order of its file. Once checked, it never changes.
create table register_segment (
  company_id uuid not null,
  source_id uuid not null,
  number integer not null,
  rows integer not null,
  -- of the tree over the hashes of its rows; empty while they are read
  root bytea not null,
  -- its rows, because no version keeps them any more
  erased boolean not null default false,
  primary key (company_id, source_id, number),
  foreign key (company_id, source_id) references data_source (company_id, id) on delete cascade
);

create table register_version (
  company_id uuid not null,
  source_id uuid not null,
  number integer not null,
  segments integer[] not null,
  rows integer not null,
  -- of the tree over the roots of its segments
  root bytea not null,
  mode text not null check (mode in ('replace', 'append', 'undo')),
  -- of the columns of its rows
  columns jsonb not null,
  added integer not null,
  changed integer not null,
  removed integer not null,
  actor_id uuid,
  actor_company uuid,
  created_at timestamptz not null,
  -- when the rows that no later version shares were erased
  erased_at timestamptz,
  primary key (company_id, source_id, number),
  foreign key (company_id, source_id) references data_source (company_id, id) on delete cascade
);

create table register_import (
  company_id uuid not null,
  id uuid not null,
  source_id uuid not null,
  mode text not null check (mode in ('replace', 'append')),
  file_name text not null,
  bytes bigint,
  upload_id text,
  -- the address of a file that is still to be fetched, which may carry a token; sealed with the
  -- company's key
  address bytea,
  dialect jsonb not null,
  columns jsonb not null,
  state text not null check (
    state in ('uploading', 'reading', 'checked', 'running', 'undoing', 'done', 'undone', 'failed', 'erasing')
  ),
  -- the segment for its rows, taken when reading begins
  segment integer,
  -- rows that were read, and hundredths of the fetch, bytes of the file or parts of the comparison
  rows integer not null default 0,
  step text check (step in ('fetching', 'reading', 'comparing')),
  progress bigint not null default 0,
  counts jsonb,
  warnings text[] not null default '{}',
  failure text,
  failure_row integer,
  -- the version that the check compared with, and the one that the run made
  checked_number integer,
  number integer,
  run_when_checked boolean not null default false,
  skip_refused boolean not null default false,
  created_at timestamptz not null,
  created_by uuid not null,
  -- who asked for the run or the undo, and the company they belong to
  actor_id uuid,
  actor_company uuid,
  requested_at timestamptz,
  leased_until timestamptz,
  leased_by text,
  generation integer not null default 0,
  attempts integer not null default 0,
  primary key (company_id, id),
  foreign key (company_id, source_id) references data_source (company_id, id) on delete cascade
);
create index register_import_created on register_import (company_id, source_id, created_at, id);
create index register_import_work on register_import (company_id, requested_at, id)
  where state in ('reading', 'running', 'undoing', 'erasing');

-- Without a foreign key, which would be checked for each of a million rows.
create table register_row (
  company_id uuid not null,
  source_id uuid not null,
  segment integer not null,
  -- its number in the file; the leaves of the segment's tree are in this order
  number integer not null,
  tag bytea not null,
  -- a keyed hash of the key and the shown values, by which a check sees that a row is unchanged
  content bytea not null,
  -- the salted hash of the row, a leaf of the segment's tree
  row_hash bytea not null,
  -- the salt and the values
  sealed bytea not null,
  primary key (company_id, source_id, segment, tag)
);
-- the look-up, in all registers at once
create index register_row_tag on register_row (company_id, tag);

-- Without a foreign key, because a deletion of a source must not delete a million in one statement.
create table register_fault (
  company_id uuid not null,
  import_id uuid not null,
  -- of the row in the file, from 1 after the header
  number integer not null,
  reasons jsonb not null,
  -- the cells, sealed with the company's key
  sealed bytea not null,
  primary key (company_id, import_id, number)
);

-- Which sources answer for the documents of a category.
create table category_data_source (
  company_id uuid not null,
  category_id uuid not null,
  source_id uuid not null,
  primary key (company_id, category_id, source_id),
  foreign key (company_id, category_id) references category (company_id, id) on delete cascade,
  foreign key (company_id, source_id) references data_source (company_id, id)
);
create index category_data_source_source on category_data_source (company_id, source_id);

-- How often the registers had nothing for a look-up by reference, by network, by person and by
-- reference. `counter` is a keyed hash, from which nobody learns which network or reference it counts.
create table lookup_miss (
  company_id uuid not null references company (id),
  counter bytea not null,
  misses integer not null,
  expires_at timestamptz not null,
  primary key (company_id, counter)
);
create index lookup_miss_expires on lookup_miss (company_id, expires_at);

-- An upload brings a deposit or the file of a register. Only deposits have an entry of the history, a
-- category, a record and a group that is charged.
alter table upload
  add column purpose text not null default 'deposit' check (purpose in ('deposit', 'register')),
  add column import_id uuid,
  alter column request_id drop not null,
  alter column category_id drop not null,
  alter column record_id drop not null,
  alter column group_id drop not null,
  alter column period_start drop not null,
  add constraint upload_of_deposit check (
    purpose = 'deposit' and import_id is null and request_id is not null and category_id is not null
      and record_id is not null and group_id is not null and period_start is not null
    or purpose = 'register' and import_id is not null and request_id is null and category_id is null
      and record_id is null and group_id is null and period_start is null
  );

grant insert, update, delete on data_source to vidimus_app;
grant select, insert, update, delete on
  register_segment, register_version, register_import, register_row, register_fault,
  category_data_source, lookup_miss to vidimus_app;
do $$
declare
  name text;
begin
  foreach name in array array['register_segment', 'register_version', 'register_import', 'register_row',
    'register_fault', 'category_data_source', 'lookup_miss'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format(
      'create policy tenant on %I using (company_id = nullif(current_setting(''app.company_id'', true), '''')::uuid)
       with check (company_id = nullif(current_setting(''app.company_id'', true), '''')::uuid)', name);
    -- a demonstration is removed with all its rows
    execute format('grant select (company_id), delete on %I to vidimus_resolver', name);
  end loop;
end $$;
