-- As core/text/search-words.ts: also letters that are no accents of another, such as ø and œ, the
-- Greek σ at the end of a word, and what word processors make of apostrophes and hyphens. A later migration
-- folds the stored names again: in this one, what is stored meanwhile would still be folded as before.
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
