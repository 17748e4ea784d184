// EstimateGrowth: what the textures of a plan take when they are cooked by their defaults. Pure.
#pragma once

#include <optional>
#include <vector>

#include "director/cli/init/judge_file.h"
#include "director/cli/init/plan.h"

namespace galley::init {

// nullopt: it is not worth a word, less than four times the sources, or less than a MiB. By the
// sizes in the headers of the images, for BC: 4 bits a texel, 8 with alpha or as a normal map, 64
// of HDR, and a third more for the mips; for grids of data 32, without mips.
std::optional<Growth> EstimateGrowth(const std::vector<Judged>& files);

}  // namespace galley::init
