// EstimateGrowth: estimates the size of a plan's textures when they are cooked with default
// settings. Pure.
#pragma once

#include <optional>
#include <vector>

#include "director/cli/init/judge_file.h"
#include "director/cli/init/plan.h"

namespace galley::init {

// Computes with the sizes in the images' headers, for BC: 4 bits a texel, 8 with alpha or for a
// normal map, 64 for HDR, and a third more for the mips; 32 bits without mips for grids of data.
// nullopt: not worth telling: less than four times the sources, or less than a MiB.
std::optional<Growth> EstimateGrowth(const std::vector<Judged>& files);

}  // namespace galley::init
