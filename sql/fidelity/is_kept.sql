-- Which measured points a hold-out run leaves each target: those in none of its held ranges that are not its held point.
-- source: the variable of sql/fidelity/hold.sql, whose lists have one item per target
create or replace temp macro is_kept(target, axis_1, axis_2, axis_3, axis_4) as not (
    axis_1 between getvariable('held').low_1[target + 1] and getvariable('held').high_1[target + 1]
    or axis_2 between getvariable('held').low_2[target + 1] and getvariable('held').high_2[target + 1]
    or axis_3 between getvariable('held').low_3[target + 1] and getvariable('held').high_3[target + 1]
    or axis_4 between getvariable('held').low_4[target + 1] and getvariable('held').high_4[target + 1]
    or (axis_1 = getvariable('held').at_1[target + 1] and axis_2 = getvariable('held').at_2[target + 1]
        and axis_3 = getvariable('held').at_3[target + 1] and axis_4 = getvariable('held').at_4[target + 1])
)
