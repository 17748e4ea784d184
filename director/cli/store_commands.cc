// StoreCommands: store stats, store cat, store forget: what the store holds.

#include <cstdio>

#include "common/base/human_bytes.h"
#include "common/base/status_macros.h"
#include "common/record/result.h"
#include "director/cli/commands.h"
#include "director/cli/open_store.h"
#include "director/cli/print_line.h"
#include "director/cli/resolve_digest.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::cli {
namespace {

const char* KindOf(const std::string& result) {
  const absl::StatusOr<record::Result> decoded = record::DecodeResult(result);
  if (!decoded.ok()) return "result";
  return decoded->is_disputed ? "dispute" : decoded->is_verdict ? "verdict" : "result";
}

}  // namespace

int RunStoreStats(const GlobalOptions& options) {
  auto opened = OpenStoreOf(options);
  if (!opened.ok()) return Fail(options, CodeOf(opened.status()), MessageOf(opened.status()));
  const auto info = (*opened)->Info();
  if (!info.ok()) return Fail(options, kInfrastructure, MessageOf(info.status()));
  const auto stats = (*opened)->Stats();
  if (!stats.ok()) return Fail(options, kInfrastructure, MessageOf(stats.status()));
  const uint64_t stored_bytes = stats->segment_bytes + stats->file_bytes + stats->unadopted_bytes;
  const nlohmann::ordered_json json = {{"directory", info->directory},
                                       {"store_id", info->store_id},
                                       {"loss_epoch", info->loss_epoch},
                                       {"blobs", stats->blobs},
                                       {"blob_bytes", stats->blob_bytes},
                                       {"results", stats->results},
                                       {"observation_sets", stats->observation_sets},
                                       {"segments", stats->segments},
                                       {"segment_bytes", stats->segment_bytes},
                                       {"files", stats->files},
                                       {"file_bytes", stats->file_bytes},
                                       {"unadopted_files", stats->unadopted_files},
                                       {"unadopted_bytes", stats->unadopted_bytes},
                                       {"temporary_files", stats->temporary_files},
                                       {"temporary_bytes", stats->temporary_bytes},
                                       {"stored_bytes", stored_bytes},
                                       {"roots", stats->roots},
                                       {"quarantined", stats->quarantined}};
  if (options.json) {
    std::puts(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return kDone;
  }
  for (const auto& [key, value] : json.items()) {
    std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (key.ends_with("_bytes")) text = HumanBytes(value.get<uint64_t>());
    if (key == "stored_bytes" && stats->blob_bytes != 0)
      text += fmt::format(", {:.2f} times the blobs", static_cast<double>(stored_bytes) /
                                                          static_cast<double>(stats->blob_bytes));
    PrintLine("{:<17} {}", key, text);
  }
  return kDone;
}

int RunStoreCat(const GlobalOptions& options, const std::string& text) {
  auto opened = OpenStoreOf(options);
  if (!opened.ok()) return Fail(options, CodeOf(opened.status()), MessageOf(opened.status()));
  const auto digest = ResolveDigest(options, **opened, text);
  if (!digest.ok()) return Fail(options, CodeOf(digest.status()), MessageOf(digest.status()));
  const auto blob = (*opened)->Get(*digest);
  if (!blob.ok())
    return Fail(options, absl::IsNotFound(blob.status()) ? kFailed : kInfrastructure,
                MessageOf(blob.status()));
  std::fwrite((*blob)->data(), 1, (*blob)->size(), stdout);
  return kDone;
}

int RunStoreForget(const GlobalOptions& options, const std::string& text) {
  auto opened = OpenStoreOf(options);
  if (!opened.ok()) return Fail(options, CodeOf(opened.status()), MessageOf(opened.status()));
  const auto key = ResolveDigest(options, **opened, text);
  if (!key.ok()) return Fail(options, CodeOf(key.status()), MessageOf(key.status()));
  const auto info = (*opened)->Info();
  if (!info.ok()) return Fail(options, kInfrastructure, MessageOf(info.status()));
  const auto results = (*opened)->Results(std::span(&*key, 1));
  if (!results.ok()) return Fail(options, kInfrastructure, MessageOf(results.status()));
  if (!results->front().has_value()) {
    return Fail(options, kFailed,
                fmt::format("{} has no result of the key {}: nothing was forgotten; `galley "
                            "records PACKAGE` and errors name keys, with their sizes",
                            info->directory, key->ToString()));
  }
  const char* const kind = KindOf(*results->front());
  const absl::Status forgotten = (*opened)->Forget(std::span(&*key, 1));
  if (!forgotten.ok()) return Fail(options, kInfrastructure, MessageOf(forgotten));
  if (options.json) {
    PrintJson({{"key", key->ToString()}, {"forgot", kind}});
  } else if (!options.quiet) {
    PrintLine("forgot the {} of {}", kind, key->ToString());
  }
  return kDone;
}

}  // namespace galley::cli
