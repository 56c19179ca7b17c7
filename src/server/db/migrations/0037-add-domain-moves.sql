-- An operator moves a host from the company of the transaction to another one, whose look it gets. It
-- has a new id, because ids order the domains of a company by age.
grant update (company_id, id, name, title, locale, public, theme, version, contact, privacy, terms,
  theme_number, themes_version, draft, draft_at, draft_by) on domain to vidimus_resolver;
create policy mover on domain for update to vidimus_resolver
  using (company_id = nullif(current_setting('app.company_id', true), '')::uuid) with check (true);
create function move_domain(
  wanted uuid, target uuid, new_id uuid, new_name text, new_locale text, new_theme jsonb
) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  update public.domain
     set company_id = target, id = new_id, name = new_name, title = new_name, locale = new_locale,
         theme = new_theme, public = false, contact = null, privacy = null, terms = null,
         theme_number = 1, themes_version = 1, draft = null, draft_at = null, draft_by = null,
         version = version + 1
   where company_id = nullif(current_setting('app.company_id', true), '')::uuid and id = wanted
$$;
alter function move_domain(uuid, uuid, uuid, text, text, jsonb) owner to vidimus_resolver;
revoke all on function move_domain(uuid, uuid, uuid, text, text, jsonb) from public;
grant execute on function move_domain(uuid, uuid, uuid, text, text, jsonb) to vidimus_app;
