-- What each group used on each day (UTC), for figures over time. Limits are counted in `usage` alone.
create table usage_day (
  company_id uuid not null,
  group_id uuid not null,
  day date not null,
  deposits bigint not null default 0 check (deposits >= 0),
  verifications bigint not null default 0 check (verifications >= 0),
  bytes bigint not null default 0 check (bytes >= 0),
  -- deposits that were begun and failed; they count towards no limit
  failed bigint not null default 0 check (failed >= 0),
  primary key (company_id, group_id, day),
  foreign key (company_id, group_id) references "group" (company_id, id)
);
create index usage_day_company on usage_day (company_id, day);

-- deleted with a group that nothing was charged to
grant select, insert, update, delete on usage_day to vidimus_app;
alter table usage_day enable row level security;
alter table usage_day force row level security;
create policy tenant on usage_day
  using (company_id = nullif(current_setting('app.company_id', true), '')::uuid)
  with check (company_id = nullif(current_setting('app.company_id', true), '')::uuid);
grant select (company_id), delete on usage_day to vidimus_resolver;

-- Finds invitations that nobody has answered, without reading everybody else.
create index user_invited on "user" (company_id, invited_at, id)
  where invited_at is not null and deleted_at is null;
