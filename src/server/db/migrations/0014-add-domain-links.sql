-- Addresses of the company's own pages, for the footer of every page.
alter table domain
  add column privacy text check (privacy like 'https://%' and length(privacy) <= 500),
  add column terms text check (terms like 'https://%' and length(terms) <= 500);

drop function resolve_host(text);
create function resolve_host(wanted text)
returns table (
  company_id uuid, company_name text, company_disabled jsonb, company_demo boolean, domain_id uuid,
  host text, name text, title text, public boolean, locale text, theme jsonb, contact text,
  privacy text, terms text, version bigint
)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select d.company_id, c.name, c.disabled, c.demo is not null, d.id, d.host, d.name, d.title, d.public,
         d.locale, d.theme, d.contact, d.privacy, d.terms, d.version
  from public.domain d join public.company c on c.id = d.company_id
  where d.verified_at is not null
    and (d.host = wanted
      or (d.host = '*.' || substr(wanted, strpos(wanted, '.') + 1)
          and strpos(wanted, '.') > 1 and left(wanted, strpos(wanted, '.') - 1) <> 'api'))
  order by d.host = wanted desc
  limit 1
$$;
alter function resolve_host(text) owner to vidimus_resolver;
revoke all on function resolve_host(text) from public;
grant execute on function resolve_host(text) to vidimus_app;
