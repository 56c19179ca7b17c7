-- The proven hosts of all companies, so that a name of nobody is refused without a look into the database.
create function list_hosts() returns setof text
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$ select host from public.domain where verified_at is not null $$;
alter function list_hosts() owner to vidimus_resolver;
revoke all on function list_hosts() from public;
grant execute on function list_hosts() to vidimus_app;
