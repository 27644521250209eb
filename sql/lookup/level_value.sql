-- Values that regimes have on each axis, whatever the others are.
-- param: first_id integer [first regime]
-- param: last_id integer [last regime]
-- param: varying tinyint [all axes of the path: 1, 2, 4 and 8 for the first to the fourth, added up]
-- param: most bigint [at most so many values]
select distinct axis, value from axis_level where regime_id between $first_id and $last_id and varying = $varying limit $most
