-- The density rules that apply to each measured axis: those that name the kernel go before those that name the path.
-- example: How densely should the tokens of DispatchFFNCombine be measured?
create or replace view axis_rule as
with axes as (
    select path, kernel_type, unnest(axis_names) as axis_name from regime
    union
    select 'communication', kernel_type, 'message_bytes' from measurement where message_bytes is not null
), matches as (
    select a.path, a.kernel_type, a.axis_name, r.rule_name, r.range_from, r.range_to, r.max_gap, r.max_ratio,
        r.required_value, r.source, (r.kernel_type is not null)::integer * 2 + (r.path is not null)::integer as names
    from axes as a join density_rule as r on r.axis_name = a.axis_name
        and (r.path is null or r.path = a.path) and (r.kernel_type is null or r.kernel_type = a.kernel_type)
), strongest as (
    select path, kernel_type, axis_name, max(names) as names from matches group by path, kernel_type, axis_name
)
select m.kernel_type, m.path, m.axis_name, m.rule_name, m.range_from, m.range_to, m.max_gap, m.max_ratio,
    m.required_value, m.source
from matches as m
join strongest as s on s.path = m.path and s.kernel_type = m.kernel_type and s.axis_name = m.axis_name
    and s.names = m.names
order by m.kernel_type, m.path, m.axis_name, m.required_value nulls first, m.range_from;
comment on view axis_rule is 'One row per kernel, path, axis and limit or required value of the rule that applies [source: density_rule, regime, measurement]';
comment on column axis_rule.kernel_type is 'Kernel [regime.kernel_type]';
comment on column axis_rule.path is 'Path that defines the axis, communication for collectives [regime.path]';
comment on column axis_rule.axis_name is 'Name of the axis [regime.axis_names]';
comment on column axis_rule.rule_name is 'Rule that applies [density_rule.rule_name]';
comment on column axis_rule.range_from is 'The limit holds from this measured value on, null for a required value [elements, bytes for message_bytes]';
comment on column axis_rule.range_to is 'The limit holds below this measured value, null = no end [elements, bytes for message_bytes]';
comment on column axis_rule.max_gap is 'Most that the next measured value may be larger by [elements, bytes for message_bytes]';
comment on column axis_rule.max_ratio is 'Most times that the next measured value may be as large [ratio]';
comment on column axis_rule.required_value is 'Value that must be measured, null for a limit [elements, bytes for message_bytes]';
comment on column axis_rule.source is 'Where the numbers come from [density_rule.source]';
