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
alter table company no force row level security;
alter table "group" no force row level security;
alter table category no force row level security;
alter table data_source no force row level security;
alter table "user" no force row level security;
alter table signup no force row level security;
alter table request no force row level security;

-- Names that no longer differ get a number that is free; the oldest keeps its name. The youngest come
-- first, because an update folds both names of a category, and each must then differ from all others.
do $$
declare
  twin record;
  language text;
  place bigint;
  given text;
  renamed jsonb;
begin
  for twin in
    select * from (
      select company_id, id, name, created_at, row_number() over (
               partition by company_id, fold_text(name) order by created_at, id) as place
        from "group"
    ) as numbered
     where numbered.place > 1 order by created_at desc, id desc
  loop
    place := twin.place;
    loop
      given := rtrim(left(twin.name, 60)) || ' (' || place || ')';
      exit when not exists (
        select from "group" where company_id = twin.company_id and fold_text(name) = fold_text(given)
      );
      place := place + 1;
    end loop;
    update "group" set name = given where company_id = twin.company_id and id = twin.id;
  end loop;

  for twin in
    select * from (
      select company_id, id, names, created_at,
             row_number() over (
               partition by company_id, fold_text(names->>'en') order by created_at, id) as en,
             row_number() over (
               partition by company_id, fold_text(names->>'fr') order by created_at, id) as fr
        from category
    ) as numbered
     where en > 1 or fr > 1 order by created_at desc, id desc
  loop
    renamed := twin.names;
    foreach language in array array['en', 'fr'] loop
      place := case language when 'en' then twin.en else twin.fr end;
      continue when place = 1;
      loop
        given := rtrim(left(twin.names->>language, 60)) || ' (' || place || ')';
        exit when not exists (
          select from category
           where company_id = twin.company_id and fold_text(names->>language) = fold_text(given)
        );
        place := place + 1;
      end loop;
      renamed := jsonb_set(renamed, array[language], to_jsonb(given));
    end loop;
    update category set names = renamed where company_id = twin.company_id and id = twin.id;
  end loop;
end
$$;

update "group" set name = name where search <> fold_text(name);
update category set names = names
 where search_en <> fold_text(names->>'en') or search_fr <> fold_text(names->>'fr');
update data_source set name = name where search <> fold_text(name);
update company set name = name where search <> fold_text(name);
update "user" set username = username where search <> fold_text(username || ' ' || email);
update signup set username = username where search <> fold_text(username || ' ' || email);
update request set search_name = fold_text(search_name) where search_name <> fold_text(search_name);

alter table company force row level security;
alter table "group" force row level security;
alter table category force row level security;
alter table data_source force row level security;
alter table "user" force row level security;
alter table signup force row level security;
alter table request force row level security;
