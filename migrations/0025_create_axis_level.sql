-- Measured values of every axis group of large regimes, so that the box around a target is found without their points.
create table levelled_regime (
    regime_id integer not null,
    axis_count integer not null
);
comment on table levelled_regime is 'Regimes with so many points that axis_level holds their measured values; lookups read the points of all others [source: point]';
comment on column levelled_regime.regime_id is 'Regime [regime.regime_id]';
comment on column levelled_regime.axis_count is 'Axes of its path [count]';

create table axis_level (
    regime_id integer not null,
    varying tinyint not null,
    k_1 double not null,
    k_2 double not null,
    k_3 double not null,
    k_4 double not null,
    axis tinyint not null,
    value double not null,
    latency_column varchar not null,
    latency_rank integer not null,
    point_count bigint not null,
    measurement_count bigint not null
);
comment on table axis_level is 'Distinct values on each axis that varies together with others while the rest is fixed, in the regimes of levelled_regime; sorted by all but the counts within each varying and axis [source: point]';
comment on column axis_level.regime_id is 'Regime [regime.regime_id]';
comment on column axis_level.varying is 'Axes that vary: 1, 2, 4 and 8 for axis_1 to axis_4, added up [bits]';
comment on column axis_level.k_1 is 'Value on axis_1 where it is fixed, -1 where it varies [elements]';
comment on column axis_level.k_2 is 'Value on axis_2 where it is fixed, -1 where it varies [elements]';
comment on column axis_level.k_3 is 'Value on axis_3 where it is fixed, -1 where it varies [elements]';
comment on column axis_level.k_4 is 'Value on axis_4 where it is fixed, -1 where it varies [elements]';
comment on column axis_level.axis is 'Axis that the value is on, one of those that vary [1 to 4]';
comment on column axis_level.value is 'Measured value [elements]';
comment on column axis_level.latency_column is 'CSV column of the points that have the value [text]';
comment on column axis_level.latency_rank is 'Preference of the latency column, 0 first [rank]';
comment on column axis_level.point_count is 'Points with the value, on the first axis that varies; 0 on the others [count]';
comment on column axis_level.measurement_count is 'Measurements of those points, 0 likewise [count]';
