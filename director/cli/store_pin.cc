// StorePin: `galley store pin`, `unpin`, `pins`: trees that no collection drops.
#include <vector>

#include "absl/time/clock.h"
#include "common/base/status_macros.h"
#include "common/store/interface/pins.h"
#include "director/cli/commands.h"
#include "director/cli/open_store.h"
#include "director/cli/print_line.h"
#include "director/cli/resolve_digest.h"
#include "director/host/near_names.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::cli {
namespace {

int FailWith(const GlobalOptions& options, const absl::Status& status) {
  const bool is_usage = absl::IsInvalidArgument(status);
  const ExitCode code = is_usage ? kUsage : absl::IsNotFound(status) ? kFailed : kInfrastructure;
  return Fail(options, code, MessageOf(status));
}

// Returns the error about a missing pin, with the nearest names of existing pins.
absl::Status WithNearPins(store::Store& store, const std::string& name, const absl::Status& error) {
  if (!absl::IsNotFound(error)) return error;
  const auto pins = store::Pins(store);
  if (!pins.ok()) return error;
  std::vector<std::string> names;
  for (const store::Pin& pin : *pins) names.push_back(pin.name);
  return absl::NotFoundError(MessageOf(error) +
                             director::NearText(director::NearNames(name, names)));
}

}  // namespace

int RunStorePin(const GlobalOptions& options, const std::string& name, const std::string& root) {
  if (const absl::Status valid = store::ValidatePinName(name); !valid.ok())
    return Fail(options, kUsage, fmt::format("{}: {}", name, MessageOf(valid)));
  auto opened = OpenStoreAndProject(options);
  if (!opened.ok()) return Fail(options, CodeOf(opened.status()), MessageOf(opened.status()));
  const auto digest = ResolveRoot(*opened->store, opened->project_id, root);
  if (!digest.ok()) return Fail(options, kUsage, MessageOf(digest.status()));
  const absl::Status pinned =
      store::SetPin(*opened->store, {.name = name, .root = *digest, .time = absl::Now()});
  if (!pinned.ok()) return FailWith(options, pinned);
  if (options.json) {
    PrintJson({{"pin", name}, {"root", digest->ToString()}});
  } else if (!options.quiet) {
    PrintLine("pinned as {}: {}", name, digest->ToString());
  }
  return kDone;
}

int RunStoreUnpin(const GlobalOptions& options, const std::string& name) {
  auto opened = OpenStoreOf(options);
  if (!opened.ok()) return Fail(options, CodeOf(opened.status()), MessageOf(opened.status()));
  const absl::Status removed = store::RemovePin(**opened, name, absl::Now());
  if (!removed.ok()) return FailWith(options, WithNearPins(**opened, name, removed));
  if (options.json) {
    PrintJson({{"unpinned", name}});
  } else if (!options.quiet) {
    PrintLine("unpinned: {}", name);
  }
  return kDone;
}

int RunStorePins(const GlobalOptions& options) {
  auto opened = OpenStoreOf(options);
  if (!opened.ok()) return Fail(options, CodeOf(opened.status()), MessageOf(opened.status()));
  const auto pins = store::Pins(**opened);
  if (!pins.ok()) return Fail(options, kInfrastructure, MessageOf(pins.status()));
  for (const store::Pin& pin : *pins) {
    const std::string time = absl::FormatTime(absl::RFC3339_sec, pin.time, absl::UTCTimeZone());
    if (options.json) {
      PrintJson({{"pin", pin.name}, {"root", pin.root.ToString()}, {"time", time}});
    } else {
      PrintLine("{:<24} {}  {}", pin.name, time, pin.root.ToString());
    }
  }
  return kDone;
}

}  // namespace galley::cli
