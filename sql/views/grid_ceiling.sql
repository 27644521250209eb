-- How many coordinates the full grid of a regime has, how many of them were measured, and whether it is over 500.
-- example: Which regimes would need more than 500 coordinates to be measured as a full grid?
create or replace view grid_ceiling as
with sides as (
    select regime_id, count(distinct axis_1) as n_1, count(distinct axis_2) as n_2, count(distinct axis_3) as n_3,
        count(distinct axis_4) as n_4, count(distinct row(axis_1, axis_2, axis_3, axis_4)) as n_points
    from point group by regime_id
)
select g.version_key, g.device, g.kernel_type, g.path, g.group_id, g.regime_id, g.axis_names,
    ([s.n_1, s.n_2, s.n_3, s.n_4])[1:len(g.axis_names)] as axis_value_counts, s.n_points,
    s.n_1 * s.n_2 * s.n_3 * s.n_4 as n_hull, s.n_1 * s.n_2 * s.n_3 * s.n_4 - s.n_points as missing_cells,
    s.n_1 * s.n_2 * s.n_3 * s.n_4 = s.n_points as is_rectangular, d.feasible_cells,
    if(d.feasible_cells is null, s.n_1 * s.n_2 * s.n_3 * s.n_4, null) as n_feasible, 500 as ceiling,
    if(d.feasible_cells is null, s.n_1 * s.n_2 * s.n_3 * s.n_4 > 500, if(s.n_points > 500, true, null)) as over_ceiling
from sides as s join regime_group as g using (regime_id) join regime as r using (regime_id)
left join declared_file as d on d.file_id = r.file_id
order by n_hull desc, g.version_key, g.kernel_type, g.regime_id;
comment on view grid_ceiling is 'One row per regime, largest grid first; the ceiling is a lint for plans of what to measure, not for tables that exist [source: point, declared_file]';
comment on column grid_ceiling.version_key is 'Version [profile_version.version_key]';
comment on column grid_ceiling.device is 'First part of the version key [text]';
comment on column grid_ceiling.kernel_type is 'Kernel [regime.kernel_type]';
comment on column grid_ceiling.path is 'Path that defines the axes [regime.path]';
comment on column grid_ceiling.group_id is 'Kernel and regime, the same in every version [regime_group.group_id]';
comment on column grid_ceiling.regime_id is 'Regime [regime.regime_id]';
comment on column grid_ceiling.axis_names is 'Names of the axes [list of text, regime.axis_names]';
comment on column grid_ceiling.axis_value_counts is 'Distinct values of each axis [list of counts]';
comment on column grid_ceiling.n_points is 'Measured coordinates [count]';
comment on column grid_ceiling.n_hull is 'Coordinates of the full grid [count]';
comment on column grid_ceiling.missing_cells is 'Coordinates of the full grid that were not measured [count]';
comment on column grid_ceiling.is_rectangular is 'Whether the full grid was measured [boolean]';
comment on column grid_ceiling.feasible_cells is 'Which coordinates can exist at all, as the declaration says; null when all can [SQL boolean over the axes]';
comment on column grid_ceiling.n_feasible is 'Coordinates of the full grid that can exist; null when a declaration limits them, see the protocol request grid [count]';
comment on column grid_ceiling.ceiling is 'Most coordinates that a grid should have [count]';
comment on column grid_ceiling.over_ceiling is 'Whether the coordinates that can exist are more than that, null when this view cannot tell [boolean]';
