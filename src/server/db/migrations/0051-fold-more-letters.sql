-- As core/text/search-words.ts: also letters that are no accents of another, such as ø and œ, the
-- Greek σ at the end of a word, and what word processors make of apostrophes and hyphens.
create or replace function fold_text(given text) returns text
language sql immutable parallel safe
as $$
  select pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(
    pg_catalog.translate(
      pg_catalog.lower(pg_catalog.regexp_replace(normalize(given, NFKD), '[\u0300-\u036f]', '', 'g')),
      'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЂЄІЈЉЊЋЏҐÞÆŒẞØøŁłĐđÐðĦħŦŧıς’‘ʼ‐‒–—',
      'αβγδεζηθικλμνξοπρστυφχψωабвгдежзиклмнопрстуфхцчшщъыьэюяђєіјљњћџґþæœßoollddddhhttiσ''''''----'
    ), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th')
$$;

-- The names are folded again wherever they are stored, as the owner sees all rows.
alter table "group" no force row level security;
alter table category no force row level security;
alter table data_source no force row level security;
alter table "user" no force row level security;
alter table signup no force row level security;
alter table request no force row level security;

-- Names that no longer differ get a number; the oldest keeps its name.
with numbered as (
  select company_id, id, row_number() over (
           partition by company_id, fold_text(name) order by created_at, id) as number
    from "group"
)
update "group" g set name = left(g.name, 70) || ' (' || n.number || ')'
  from numbered n where n.company_id = g.company_id and n.id = g.id and n.number > 1;
with numbered as (
  select company_id, id,
         row_number() over (partition by company_id, fold_text(names->>'en') order by created_at, id) as en,
         row_number() over (partition by company_id, fold_text(names->>'fr') order by created_at, id) as fr
    from category
)
update category c
   set names = jsonb_build_object(
         'en', case when n.en > 1 then left(names->>'en', 70) || ' (' || n.en || ')' else names->>'en' end,
         'fr', case when n.fr > 1 then left(names->>'fr', 70) || ' (' || n.fr || ')' else names->>'fr' end)
  from numbered n
 where n.company_id = c.company_id and n.id = c.id and (n.en > 1 or n.fr > 1);

update "group" set name = name where search <> fold_text(name);
update category set names = names
 where search_en <> fold_text(names->>'en') or search_fr <> fold_text(names->>'fr');
update data_source set name = name where search <> fold_text(name);
update company set name = name where search <> fold_text(name);
update "user" set username = username where search <> fold_text(username || ' ' || email);
update signup set username = username where search <> fold_text(username || ' ' || email);
update request set search_name = fold_text(search_name) where search_name <> fold_text(search_name);

alter table "group" force row level security;
alter table category force row level security;
alter table data_source force row level security;
alter table "user" force row level security;
alter table signup force row level security;
alter table request force row level security;
