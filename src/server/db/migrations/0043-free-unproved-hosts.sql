-- Several companies may claim a host, and the one that proves it has it. A company claims it once.
drop index domain_host;
create unique index domain_host on domain (host) where verified_at is not null;
create unique index domain_own_host on domain (company_id, host);

-- Whether any company has proved a host. Tells nothing of claims and not who it is.
create function is_proved_host(wanted text) returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$ select exists (select from public.domain where host = wanted and verified_at is not null) $$;
alter function is_proved_host(text) owner to vidimus_resolver;
revoke all on function is_proved_host(text) from public;
grant execute on function is_proved_host(text) to vidimus_app;
