-- Targets under the keys of padded matches: sizes rounded up to 64.
-- reads: targets
select *, 'p' || padded_sizes(bare_shapes(shapes))::varchar as key from targets
