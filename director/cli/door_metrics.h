// DoorMetrics: the figures of a listening socket (common/listen/door_figures.h) as text for
// Prometheus, for `galley store serve --metrics FILE`: the text collector of node_exporter reads
// such files.
//
// Source: https://prometheus.io/docs/instrumenting/exposition_formats/ (text format 0.0.4).
#pragma once

#include <string>

#include "common/listen/door_figures.h"

namespace galley::cli {

// Names are galley_store_connections...; every name has a HELP and a TYPE line.
std::string DoorMetrics(const listen::DoorFigures& figures);

}  // namespace galley::cli
