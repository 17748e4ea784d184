#include "common/store/layers/quota_keeper.h"

#include <utility>

#include "common/base/counted.h"
#include "common/base/human_bytes.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::store {

QuotaKeeper::QuotaKeeper(StoreAdmin& store, QuotaOptions options)
    : store_(store), options_(std::move(options)), thread_([this] { Run(); }) {}

QuotaKeeper::~QuotaKeeper() {
  over_.Cancel();
  thread_.join();
}

void QuotaKeeper::Run() {
  while (true) {
    over_.Pause(options_.period);
    if (over_.is_cancelled()) return;
    const absl::Status status = Keep(&over_, options_.say);
    if (!status.ok() && !over_.is_cancelled())
      options_.say(fmt::format("the store was not brought within its size: {}", MessageOf(status)));
  }
}

absl::Status QuotaKeeper::Keep(Cancellation* cancellation,
                               const std::function<void(const std::string& text)>& say) {
  const base::MutexLock lock(mutex_);
  // Files that nobody adopted are not counted: some are being made, and what was left behind goes
  // with the next collection.
  ASSIGN_OR_RETURN(const StoreStats stats, store_.Stats({.counts_unadopted = false}));
  const uint64_t size = stats.segment_bytes + stats.file_bytes;
  if (size <= options_.bytes_max) return absl::OkStatus();
  say(fmt::format("the store holds {}, more than {}: dropping what was not used for the longest",
                  HumanBytes(size), HumanBytes(options_.bytes_max)));
  if (options_.may_collect) RETURN_IF_ERROR(options_.may_collect());
  ASSIGN_OR_RETURN(const GcReport report, store_.Collect({.bytes_max = options_.bytes_max / 10 * 9,
                                                          .cancellation = cancellation}));
  std::string text =
      fmt::format("dropped {} and {} of the store", Counted(report.dropped_results, "result"),
                  HumanBytes(report.dropped_bytes));
  if (report.bytes > options_.bytes_max)
    text += fmt::format("; what has to stay takes {}", HumanBytes(report.bytes));
  say(text);
  return absl::OkStatus();
}

}  // namespace galley::store
