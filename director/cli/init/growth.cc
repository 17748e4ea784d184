#include "director/cli/init/growth.h"

#include <algorithm>

#include "director/cli/init/data_images.h"
#include "director/cli/init/name_rules.h"

namespace galley::init {
namespace {

constexpr uint64_t kTimesTold = 4;
constexpr uint64_t kBytesTold = 1 << 20;
// Bounds that are proposed: the largest with which half of the room is enough.
constexpr uint32_t kMaxSizes[] = {4096, 2048, 1024, 512, 256};
constexpr uint64_t kSideMax = 65'535;

uint64_t BitsOfTexel(const Judged& file) {
  if (Extension(file.file.path) == "hdr") return 64;
  if (file.decision.settings.find("normal") != std::string::npos) return 8;
  return file.outline.has_alpha ? 8 : 4;
}

// `max_size`: 0 for no bound. Sides are halved until they are within it.
uint64_t CookedBytes(const Judged& file, uint32_t max_size) {
  uint64_t width = std::min(file.outline.width, kSideMax);
  uint64_t height = std::min(file.outline.height, kSideMax);
  if (file.decision.settings == kDataSettings) return width * height * 4;
  while (max_size > 0 && std::max(width, height) > max_size) {
    width = std::max<uint64_t>(width / 2, 1);
    height = std::max<uint64_t>(height / 2, 1);
  }
  return width * height * BitsOfTexel(file) / 8 * 4 / 3;
}

}  // namespace

std::optional<Growth> EstimateGrowth(const std::vector<Judged>& files) {
  Growth growth;
  std::vector<const Judged*> images;
  for (const Judged& file : files) {
    if (file.decision.action != Action::kCook || file.decision.cooker != "texture" ||
        file.outline.width == 0)
      continue;
    images.push_back(&file);
    growth.source_bytes += file.file.size_bytes;
    growth.cooked_bytes += CookedBytes(file, 0);
  }
  growth.images = images.size();
  if (growth.cooked_bytes < kBytesTold || growth.cooked_bytes < growth.source_bytes * kTimesTold)
    return std::nullopt;
  for (const uint32_t max_size : kMaxSizes) {
    uint64_t bytes = 0;
    for (const Judged* image : images) bytes += CookedBytes(*image, max_size);
    if (bytes > growth.cooked_bytes / 2) continue;
    growth.max_size = max_size;
    growth.cooked_bytes_bounded = bytes;
    break;
  }
  return growth;
}

}  // namespace galley::init
