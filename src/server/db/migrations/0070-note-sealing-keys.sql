-- The root secret that sealed the digests of an upload, as other tables with sealed columns have it. Null
-- where nothing is sealed: no digest is known, or an earlier release stored it as it is, in 32 bytes.
alter table upload add column kek_id text;
do $$
declare
  tenant uuid;
begin
  for tenant in select list_companies() loop
    perform set_config('app.company_id', tenant::text, true);
    update upload set kek_id = (select kek_id from installation)
     where company_id = tenant and (octet_length(original) > 32 or octet_length(stored) > 32);
  end loop;
  perform set_config('app.company_id', '', true);
end $$;
