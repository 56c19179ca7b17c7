-- What an operator sees of how companies are used: four figures of each, and no row of theirs.
grant select (deleted_at) on "user" to vidimus_resolver;
grant select (kind, used) on usage to vidimus_resolver;
grant select (day, deposits, verifications) on usage_day to vidimus_resolver;
create policy counter on "user" for select to vidimus_resolver using (true);
create policy counter on usage for select to vidimus_resolver using (true);
create policy counter on usage_day for select to vidimus_resolver using (true);

-- People, deposits, stored bytes, and requests from a day on, of several companies.
create function company_usage(wanted uuid[], since date)
returns table (id uuid, people bigint, documents bigint, storage bigint, requests bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select company.id,
         (select count(*) from public."user" u
           where u.company_id = company.id and u.deleted_at is null),
         (select coalesce(sum(d.deposits), 0)::bigint from public.usage_day d
           where d.company_id = company.id),
         (select coalesce(sum(s.used), 0)::bigint from public.usage s
           where s.company_id = company.id and s.kind = 'storage'),
         (select coalesce(sum(d.deposits + d.verifications), 0)::bigint from public.usage_day d
           where d.company_id = company.id and d.day >= since)
    from unnest(wanted) as company (id)
$$;
alter function company_usage(uuid[], date) owner to vidimus_resolver;
revoke all on function company_usage(uuid[], date) from public;
grant execute on function company_usage(uuid[], date) to vidimus_app;
