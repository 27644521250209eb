-- A million points and keys, a hundred thousand distinct targets: synthetic, nothing of it was measured.
-- 500 regimes of 20 x 10 x 10 points.
insert into point by name
select r::integer as regime_id, 'Average Duration(us)' as latency_column, 0 as latency_rank,
    (16 * m * m + m)::double as axis_1, (256 * k)::double as axis_2, (128 * n)::double as axis_3, 0.0 as axis_4,
    1 + m * k * n / 100 + hash(r, m, k, n) % 1000 / 1e4 as latency_mean_us, latency_mean_us as latency_median_us,
    latency_mean_us as latency_min_us, latency_mean_us as latency_first_us, latency_mean_us as latency_max_us,
    1 as measurement_count, row_number() over () as first_row_id, first_row_id + 1 as first_line_number
from range(500) as a(r), range(1, 21) as b(m), range(1, 11) as c(k), range(1, 11) as d(n)
order by regime_id, axis_1, axis_2, axis_3;

insert into regime
select regime_id, 1, regime_id % 20, 'K' || regime_id % 20, 'matmul', 0, '{"r": ' || regime_id || '}', 'ND;ND', 'DT_BF16',
    true, ['M', 'K', 'N'], [0], count(*)
from point group by regime_id order by regime_id;

-- Every target lies between two points along one of its axes.
insert into target_place
with corners as (
    select (hash(i) % 500)::integer as regime_id, hash(i, 1) % 19 + 1 as m, hash(i, 2) % 9 + 1 as k,
        hash(i, 3) % 9 + 1 as n, hash(i, 4) % 3 as free, hash(i, 5) % 100 + 1 as off
    from range(200000) as t(i)
), places as (
    select distinct regime_id, 16 * m * m + m + if(free = 0, off % 16 + 1, 0) as axis_1,
        256 * k + if(free = 1, off, 0) as axis_2, 128 * n + if(free = 2, off, 0) as axis_3
    from corners
), chosen as (
    select * from places order by hash(regime_id, axis_1, axis_2, axis_3) limit 100000
)
select row_number() over () as place_id, place_id as target_id, 0, 0, regime_id, axis_1, axis_2, axis_3, 0, true, true, true,
    false, false, false
from chosen;

-- As ingest stores them: a key as is, one with the dims of weights sorted, one with sizes rounded up.
insert into exact_key by name
with rows as (
    select (i % 20)::integer as file_id, i as row_id, i // 20 % 250 + 1 as m, (i // 5000 % 20 + 1) * 256 as k,
        (i // 100000 % 10 + 1) * 128 as n, 1 + hash(i) % 10000 / 1e3 as us
    from range(1000000) as t(i)
), keys as (
    select *, unnest([format('[[{}, {}], [{}, {}]]', m, k, n, k),
        format('s[[{}, {}], [{}, {}]]', m, k, least(n, k), greatest(n, k)),
        format('p[[{}, {}], [{}, {}]]', (m + 63) // 64 * 64, k, n, k)]) as form
    from rows
)
select file_id, form || '|DT_BF16;DT_BF16' as match_key, false as is_bare, us as latency_mean_us,
    1 as measurement_count, 0 as latency_rank,
    'Average Duration(us)' as latency_column, row_id as signature_id, row_id, row_id + 2 as line_number
from keys order by file_id, match_key, row_id;

-- Two kernels may answer each target, under three keys each.
insert into target_key
with targets as (
    select distinct i % 10 * 2 as kernel, hash(i) % 250 + 1 as m, (hash(i, 1) % 20 + 1) * 256 as k,
        (hash(i, 2) % 10 + 1) * 128 as n
    from range(200000) as t(i)
), chosen as (
    select *, row_number() over (order by hash(kernel, m, k, n)) as target_id from targets
), candidates as (
    select *, unnest([0, 1]) as place from chosen where target_id <= 100000
), forms as (
    select *, unnest([
        {'rule': 'identity', 'quality': 0, 'key': format('[[{}, {}], [{}, {}]]', m, k, k, n)},
        {'rule': 'batch_strip', 'quality': 1, 'key': format('[[{}, {}], [{}, {}]]', m, k, k, n)},
        {'rule': 'transpose', 'quality': 1, 'key': format('s[[{}, {}], [{}, {}]]', m, k, least(n, k), greatest(n, k))}
    ]) as form
    from candidates
)
select target_id, place, kernel + place, form.key || '|DT_BF16;DT_BF16', form.rule, form.quality, 0, false
from forms order by hash(target_id);
