#include "director/host/remote_warnings.h"

#include "common/base/counted.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

using GivenUp = store::RemoteState::GivenUp;

std::string WrongText(const store::RemoteState& state) {
  std::string text =
      state.given_up == GivenUp::kWrongBlobs
          ? fmt::format(
                "{} of {} of the remote store {} had wrong bytes and {} not used: the cook went "
                "on without it",
                state.blobs_wrong, Counted(state.blobs_came, "blob"), state.url,
                state.blobs_wrong == 1 ? "was" : "were")
          : fmt::format("{} of the remote store {} had wrong bytes and {} not used",
                        Counted(state.blobs_wrong, "blob"), state.url,
                        state.blobs_wrong == 1 ? "was" : "were");
  if (state.blobs_repaired > 0)
    text +=
        fmt::format("; {} of them were made again, and are right there now", state.blobs_repaired);
  return text;
}

}  // namespace

std::string RemoteDownText(const store::RemoteState& state, absl::Time monotonic, absl::Time now,
                           absl::TimeZone zone) {
  if (!state.is_down) return "";
  if (state.down_since == absl::InfinitePast()) return "down";  // from the first call on
  const absl::Time since = now - (monotonic - state.down_since);
  return fmt::format("down since {}", absl::FormatTime("%H:%M", since, zone));
}

std::vector<std::string> RemoteWarnings(const store::RemoteState& state, std::string_view down) {
  std::vector<std::string> texts;
  if (!down.empty()) {
    texts.push_back(fmt::format("the remote store {} is {}, the cook went on without it: {}",
                                state.url, down, state.reason));
  } else if (state.given_up == GivenUp::kSlow) {
    texts.push_back(
        fmt::format("the remote store {} is too slow: reads that hung, or took longer than half a "
                    "second and a second for each 250 KB, cost {:.0f} s; the cook went on without "
                    "it",
                    state.url, absl::ToDoubleSeconds(state.lost)));
  } else if (state.calls_failed > 0) {
    texts.push_back(fmt::format("{} calls of the remote store {} failed, the cook did without them",
                                state.calls_failed, state.url));
  }
  if (state.blobs_wrong > 0) texts.push_back(WrongText(state));
  if (state.blobs_kept_wrong > 0) {
    texts.push_back(fmt::format(
        "{} of the remote store {} {} wrong: {} made and sent again, but this server keeps what it "
        "has, and the protocol has no call that replaces a blob; remove {} there",
        Counted(state.blobs_kept_wrong, "blob"), state.url,
        state.blobs_kept_wrong == 1 ? "stays" : "stay",
        state.blobs_kept_wrong == 1 ? "it was" : "they were",
        state.blobs_kept_wrong == 1 ? "it" : "them"));
  }
  return texts;
}

}  // namespace galley::director
