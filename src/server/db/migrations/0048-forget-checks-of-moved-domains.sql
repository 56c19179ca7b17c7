-- What DNS answered about a domain that is not served, and since when it has been off, concerns the company
-- that had it. The company to which it is moved begins with an unproved domain.
grant update (check_outcome, check_values, quarantined_at) on domain to vidimus_resolver;
create or replace function move_domain(
  wanted uuid, target uuid, new_id uuid, new_name text, new_locale text, new_theme jsonb
) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  update public.domain
     set company_id = target, id = new_id, name = new_name, title = new_name, locale = new_locale,
         theme = new_theme, public = false, contact = null, privacy = null, terms = null,
         theme_number = 1, themes_version = 1, draft = null, draft_at = null, draft_by = null,
         version = version + 1, quarantined_at = null,
         failing_since = case when verified_at is not null then failing_since end,
         checked_at = case when verified_at is not null then checked_at end,
         check_outcome = case when verified_at is not null then check_outcome end,
         check_values = case when verified_at is not null then check_values else '{}' end
   where company_id = nullif(current_setting('app.company_id', true), '')::uuid and id = wanted
$$;
