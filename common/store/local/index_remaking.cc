#include "common/store/local/index_remaking.h"

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/repairs.h"
#include "common/base/status_macros.h"
#include "common/store/local/index_folder.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr absl::Duration kTellInterval = absl::Seconds(10);
// Read between two looks at the clock.
constexpr uint64_t kLookBytes = 1 << 20;

}  // namespace

void IndexRemaking::Begin(const std::vector<SegmentListing>& segments) {
  begun_ = told_ = boot_time_();
  for (const SegmentListing& segment : segments) segment_bytes_ += segment.size_bytes;
}

void IndexRemaking::NoteRead(uint64_t bytes) {
  read_bytes_ += bytes;
  if (!has_begun() || read_bytes_ - looked_bytes_ < kLookBytes) return;
  looked_bytes_ = read_bytes_;
  const absl::Time now = boot_time_();
  if (now - told_ < kTellInterval) return;
  told_ = now;
  LogWarning("{}: it is made again from segments and files; {} MiB of at most {} MiB are read",
             IndexPath(store_directory_), read_bytes_ >> 20, segment_bytes_ >> 20);
}

void IndexRemaking::Tell(const absl::Status& why) const {
  const std::string where = aside_.empty() ? "it"
                                           : fmt::format("it is {} now, for a look, and",
                                                         aside_.substr(aside_.rfind('/') + 1));
  NoteRepair(fmt::format("{}: {}; {} was made again from segments and files in {:.1f} s",
                         IndexPath(store_directory_), MessageOf(why), where,
                         absl::ToDoubleSeconds(boot_time_() - begun_)));
}

}  // namespace galley::store
