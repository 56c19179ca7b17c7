-- How often something was tried that is limited: guesses, look-ups and mails of all processes. `counter` is
-- a keyed hash, from which nobody learns whose network or e-mail it counts, or at which company. So the table
-- has no company, and the calls of strangers may count in it.
create table rate_count (
  counter bytea primary key,
  points bigint not null,
  expires_at timestamptz not null
) with (fillfactor = 70);
create index rate_count_expires on rate_count (expires_at);
grant select, insert, update, delete on rate_count to vidimus_app;

-- Counts one after the other, and nothing after one that is beyond its limit. A row that has expired begins
-- anew. Whoever waits for a row holds only earlier ones of the same list.
create function count_rates(
  at timestamptz, counters bytea[], adding bigint[], limits bigint[], ends timestamptz[]
) returns table (counted bigint, counted_until timestamptz)
language plpgsql as $$
begin
  for i in 1 .. cardinality(counters) loop
    insert into rate_count as so_far (counter, points, expires_at)
    values (counters[i], adding[i], ends[i])
    on conflict (counter) do update set
      points = excluded.points + case when so_far.expires_at > at then so_far.points else 0 end,
      expires_at =
        case when so_far.expires_at > at then so_far.expires_at else excluded.expires_at end
    returning so_far.points, so_far.expires_at into counted, counted_until;
    return next;
    exit when counted > limits[i];
  end loop;
end
$$;
