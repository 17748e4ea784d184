#include "worker/main/describe_look.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>
#include <string>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/file_head.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "worker/cookers/source_looker.h"
#include "worker/executor/all_cookers.h"
#include "worker/main/commands.h"
#include "worker/main/cook_file.h"
#include "worker/main/look_context.h"

namespace galley::worker {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kFileBytesMax = 256 << 20;
constexpr size_t kWhyBytesMax = 400;
// The limit on an answer, so that readers need not hold more.
constexpr size_t kLineBytesMax = 8 << 20;

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The first line names the flaw; a compiler says more in further lines.
std::string FirstLine(std::string text) {
  text.resize(std::min({text.size(), text.find('\n'), kWhyBytesMax}));
  return text;
}

Json TagsOf(const LookContext& context) {
  Json tags = Json::object();
  for (const auto& [name, value] : context.tags) {
    const double* number = std::get_if<double>(&value);
    if (number != nullptr && *number == std::floor(*number) && std::abs(*number) < 1e15) {
      tags[name] = static_cast<int64_t>(*number);
    } else {
      std::visit([&, &name = name](const auto& one) { tags[name] = one; }, value);
    }
  }
  return tags;
}

// Asks a SourceLooker; for other cookers, Load decides whether the cooker takes the source.
absl::Status LookAtSource(Cooker& cooker, LookContext& context, LookDepth depth, FileLook& look) {
  auto* const looker = dynamic_cast<SourceLooker*>(&cooker);
  return looker != nullptr ? looker->Look(context, depth, look) : cooker.Load(context).status();
}

class Looker {
 public:
  // INVALID_ARGUMENT: wrong usage.
  static absl::StatusOr<Looker> Create(const LookFlags& flags) {
    Looker looker;
    looker.world_ = {.mounts = {},
                     .platform = {{"texture", "bc"}, {"shader", "spirv-1.5"}},
                     .memory_bytes_max = LookOptions().memory_bytes_max,
                     .file_bytes_max = kFileBytesMax};
    for (const std::string& text : flags.parameters) {
      ASSIGN_OR_RETURN(const auto pair, SplitPair(text, "--platform", "shader=spirv-1.5"));
      looker.world_.platform[pair.first] = pair.second;
    }
    for (const std::string& text : flags.mounts) {
      ASSIGN_OR_RETURN(const auto pair, SplitPair(text, "--mount", "/Game=content"));
      looker.world_.mounts.emplace_back(pair.first, AbsolutePath(pair.second));
    }
    looker.named_ = flags.cooker;
    looker.depth_ = flags.is_outline ? LookDepth::kOutline : LookDepth::kWhole;
    if (flags.cooker.empty() && flags.settings != "{}")
      return absl::InvalidArgumentError("--settings: expected --cooker NAME beside it");
    RETURN_IF_ERROR(looker.SettleSettings(flags));
    return looker;
  }

  std::string LookAt(const std::string& file) const {
    Json json = {{"file", file}};
    const std::string path = AbsolutePath(file);
    const std::string extension = content::ExtensionOf(path);
    Cooker* cooker = Choose(extension);
    json["cooker"] = cooker == nullptr ? "" : cooker->description().name;
    if (cooker == nullptr) {
      json["takes"] = false;
      json["why_not"] = extension.empty() ? "no cooker takes files without extension"
                                          : fmt::format("no cooker takes .{} files", extension);
      return Dump(json);
    }
    if (const absl::Status read = LookInto(*cooker, path, extension, json); !read.ok()) {
      json["takes"] = false;
      json["failed"] = MessageOf(read);
    }
    std::string line = Dump(json);
    if (line.size() <= kLineBytesMax) return line;
    return Dump({{"file", file},
                 {"cooker", json["cooker"]},
                 {"takes", false},
                 {"failed", fmt::format("the answer takes more than {} bytes", kLineBytesMax)}});
  }

 private:
  absl::Status SettleSettings(const LookFlags& flags) {
    bool is_known = named_.empty();
    for (const auto& cooker : cookers_) {
      const record::CookerDescription& description = cooker->description();
      const bool is_named = description.name == named_;
      is_known |= is_named;
      auto settings = record::ResolveSettings(description, is_named ? flags.settings : "{}");
      if (!settings.ok() && is_named) return Annotate(settings.status(), "--settings");
      settings_[description.name] =
          settings.ok() ? nlohmann::json::parse(*settings) : nlohmann::json::object();
    }
    if (is_known) return absl::OkStatus();
    return InvalidArgumentError("--cooker {}: there is no such cooker", named_);
  }

  // nullptr: no cooker takes the file.
  Cooker* Choose(const std::string& extension) const {
    for (const auto& cooker : cookers_) {
      const auto& takes = cooker->description().extensions;
      const bool fits = named_.empty() ? std::ranges::find(takes, extension) != takes.end()
                                       : cooker->description().name == named_;
      if (fits) return cooker.get();
    }
    return nullptr;
  }

  // Looks at a file. For an outline its first bytes mostly suffice. If these are refused, they are
  // a verdict only when they announce another format; otherwise the whole file decides. The error
  // is the one of reading the file.
  absl::Status LookInto(Cooker& cooker, const std::string& path, const std::string& extension,
                        Json& json) const {
    auto* const looker = dynamic_cast<SourceLooker*>(&cooker);
    const uint64_t head_bytes =
        looker == nullptr || depth_ == LookDepth::kWhole ? UINT64_MAX : looker->outline_bytes();
    if (head_bytes < kFileBytesMax) {
      ASSIGN_OR_RETURN(std::string head, ReadFileHead(path, head_bytes));
      const bool is_whole = head.size() < head_bytes;
      Json outline = json;
      LookWith(cooker, path, extension, std::move(head), outline);
      if (is_whole || outline["takes"] || outline.contains("flaw")) {
        json = std::move(outline);
        return absl::OkStatus();
      }
    }
    ASSIGN_OR_RETURN(std::string bytes, ReadFile(path, kFileBytesMax));
    LookWith(cooker, path, extension, std::move(bytes), json);
    return absl::OkStatus();
  }

  void LookWith(Cooker& cooker, const std::string& path, const std::string& extension,
                std::string bytes, Json& json) const {
    LookContext context(world_, path, extension, MakeBlob(std::move(bytes)),
                        settings_.at(cooker.description().name));
    FileLook look;
    const absl::Status status = LookAtSource(cooker, context, depth_, look);
    json["takes"] = status.ok();
    if (absl::IsInvalidArgument(status)) {
      json["why_not"] = FirstLine(MessageOf(status));
      if (!look.flaw.empty()) json["flaw"] = look.flaw;
    } else if (!status.ok()) {
      json["failed"] = FirstLine(MessageOf(status));
    }
    json["kind"] = look.kind;
    if (!look.pixels.empty()) json["pixels"] = look.pixels;
    if (!look.includes.empty()) json["includes"] = look.includes;
    for (const auto& [image, use] : look.images)
      json["images"].push_back({{"path", image}, {"use", use}});
    json["references"] = Json::array();
    for (const auto& [reference, kind] : context.references) {
      json["references"].push_back(
          {{"path", reference}, {"kind", record::ReferenceKindName(kind)}});
    }
    context.reads.insert(look.buffers.begin(), look.buffers.end());
    json["reads"] = context.reads;
    json["generated"] = context.generated;
    json["tags"] = TagsOf(context);
    json["warnings"] = context.warnings;
  }

  Cookers cookers_ = AllCookers();
  std::string named_;
  LookDepth depth_ = LookDepth::kWhole;
  std::map<std::string, nlohmann::json> settings_;  // by cooker
  LookWorld world_;
};

std::vector<std::string> FilesOf(const LookFlags& flags) {
  std::vector<std::string> files;
  for (const std::string& file : flags.files) {
    if (file != "-") {
      files.push_back(file);
      continue;
    }
    for (std::string line; std::getline(std::cin, line);) {
      if (!line.empty()) files.push_back(line);
    }
  }
  return files;
}

absl::Status PrintLine(std::string line) {
  line += '\n';
  return WriteAll(STDOUT_FILENO, line, "standard output");
}

}  // namespace

int DescribeLooks(const LookFlags& flags) {
  const auto looker = Looker::Create(flags);
  const auto look = [&](const std::string& file) { return looker->LookAt(file); };
  const absl::Status done =
      looker.ok() ? LookInChildren(FilesOf(flags), look, {}, PrintLine) : looker.status();
  if (done.ok()) return 0;
  std::fprintf(stderr, "galley-worker: %s\n", EscapeControl(MessageOf(done)).c_str());
  return absl::IsInvalidArgument(done) ? kExitUsage : kExitOther;
}

}  // namespace galley::worker
