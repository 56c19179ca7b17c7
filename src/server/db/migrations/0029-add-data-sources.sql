-- The registers that verification also searches. Nothing writes them yet: the app may only read.
create table data_source (
  company_id uuid not null references company (id),
  id uuid not null,
  name text not null check (char_length(name) between 1 and 80),
  created_at timestamptz not null,
  version bigint not null default 1,
  search text not null generated always as (fold_text(name)) stored,
  primary key (company_id, id)
);
-- Two data sources of one name could not be told apart.
create unique index data_source_name on data_source (company_id, search);
create index data_source_created on data_source (company_id, created_at, id);

grant select on data_source to vidimus_app;
alter table data_source enable row level security;
alter table data_source force row level security;
create policy tenant on data_source
  using (company_id = nullif(current_setting('app.company_id', true), '')::uuid)
  with check (company_id = nullif(current_setting('app.company_id', true), '')::uuid);
-- a demonstration is removed with all its rows
grant select (company_id), delete on data_source to vidimus_resolver;
