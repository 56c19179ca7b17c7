-- The hosts below wildcards for which a proxy may request certificates, each with its API. Strangers can
-- make up such hosts, so a wildcard gets only a few new ones a week; hosts that are here stay allowed.
create table certificate_name (
  name text primary key check (length(name) <= 253),
  wildcard text not null,
  allowed_at timestamptz not null
);
create index certificate_name_age on certificate_name (wildcard, allowed_at);
-- `update` because a lock of the table needs it
grant select, insert, update on certificate_name to vidimus_app;

-- Hosts on which a sign-up or a mail still waits, or an import is kept, are not new. Of other hosts that had a
-- certificate before, nothing is stored. A wildcard stands for one label.
do $$
declare
  tenant uuid;
begin
  for tenant in select list_companies() loop
    perform set_config('app.company_id', tenant::text, true);
    insert into certificate_name (name, wildcard, allowed_at)
    select distinct used.host, domain.host, 'epoch'::timestamptz
      from (
        select host from signup where company_id = tenant and host is not null
        union all select host from import where company_id = tenant
        union all select host from mail where company_id = tenant
      ) used
      join domain on domain.company_id = tenant and domain.verified_at is not null
       and domain.host = '*' || substring(used.host from '[.].*')
    on conflict do nothing;
  end loop;
  perform set_config('app.company_id', '', true);
end
$$;
