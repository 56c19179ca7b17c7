-- What each person has used of each group, in the group's periods. What their open uploads reserve is not
-- repeated here: the uploads say it.
create table user_usage (
  company_id uuid not null,
  user_id uuid not null,
  group_id uuid not null,
  kind text not null check (kind in ('requests', 'storage')),
  period_start timestamptz not null,
  used bigint not null check (used >= 0),
  primary key (company_id, user_id, group_id, kind, period_start),
  foreign key (company_id, user_id) references "user" (company_id, id),
  foreign key (company_id, group_id) references "group" (company_id, id)
);

-- Deposits of files say whom they were charged to. Checks and fingerprints never did.
-- The owner may be bound by the policies, and must see the rows of every company.
alter table upload no force row level security;
alter table deposit no force row level security;
insert into user_usage (company_id, user_id, group_id, kind, period_start, used)
  select u.company_id, u.user_id, u.group_id, kind,
         case kind when 'requests' then u.period_start else 'epoch' end,
         sum(case kind when 'requests' then 1 else u.size end)
    from upload u
    join deposit d on d.company_id = u.company_id and d.request_id = u.request_id
   cross join (values ('requests'), ('storage')) kinds (kind)
   group by 1, 2, 3, 4, 5;
alter table upload force row level security;
alter table deposit force row level security;

grant select, insert, update on user_usage to vidimus_app;
alter table user_usage enable row level security;
alter table user_usage force row level security;
create policy tenant on user_usage
  using (company_id = nullif(current_setting('app.company_id', true), '')::uuid)
  with check (company_id = nullif(current_setting('app.company_id', true), '')::uuid);
grant select (company_id), delete on user_usage to vidimus_resolver;
