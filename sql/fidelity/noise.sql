-- Noise of the regimes of one version.
-- param: version_key varchar [profile_version.version_key]
select regime_id, n_repeat_points, spread_p50, spread_p90, spread_floor, resolution_us
from noise_group
where version_key = $version_key
order by regime_id
