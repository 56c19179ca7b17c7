-- When a person's reading of a company's history was entered in the audit log last. Of parallel reads one
-- moves the time on and makes the entry.
create table history_reading (
  company_id uuid not null references company (id),
  -- may belong to another company: operators read, too
  reader_id uuid not null,
  entered_at timestamptz not null,
  primary key (company_id, reader_id)
);
alter table history_reading enable row level security;
alter table history_reading force row level security;
create policy tenant on history_reading
  using (company_id = nullif(current_setting('app.company_id', true), '')::uuid)
  with check (company_id = nullif(current_setting('app.company_id', true), '')::uuid);
grant select, insert, update on history_reading to vidimus_app;
-- a demonstration is removed with all its rows
grant select (company_id), delete on history_reading to vidimus_resolver;
