#include "worker/executor/testing/script_cooker.h"

#include <fstream>
#include <new>
#include <sstream>
#include <stdexcept>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "worker/cookers/out_of_memory.h"

namespace galley::worker {
namespace {

class ScriptLoaded final : public Cooker::Loaded {
 public:
  std::string text;
};

class ScriptCooker final : public Cooker {
 public:
  explicit ScriptCooker(bool may_generate) {
    description_.name = "script";
    description_.identity = "1";
    description_.outputs = {{.suffix = ".t"}};
    description_.has_more = true;
    description_.may_generate = may_generate;
  }
  const record::CookerDescription& description() const override { return description_; }

  absl::StatusOr<std::unique_ptr<Loaded>> Load(CookContext& context) override {
    auto loaded = std::make_unique<ScriptLoaded>();
    const std::string& script = *context.source();
    const size_t split = script.find("--\n");
    if (split != std::string::npos)
      RETURN_IF_ERROR(Play(context, script.substr(0, split), loaded->text));
    return loaded;
  }

  absl::Status Cook(CookContext& context, Loaded& loaded) override {
    const std::string& script = *context.source();
    const size_t split = script.find("--\n");
    std::string text = static_cast<ScriptLoaded&>(loaded).text;
    return Play(context, split == std::string::npos ? script : script.substr(split + 3), text);
  }

 private:
  static absl::Status Play(CookContext& context, const std::string& script, std::string& text) {
    std::istringstream lines(script);
    for (std::string line; std::getline(lines, line);) RETURN_IF_ERROR(Line(context, line, text));
    return absl::OkStatus();
  }

  static absl::Status Line(CookContext& context, const std::string& line, std::string& text) {
    std::istringstream words(line);
    std::string verb, first, second;
    words >> verb >> first >> second;
    if (verb == "read") {
      ASSIGN_OR_RETURN(const FileContent content, context.ReadFile(first));
      text += content.kind == Kind::kFile     ? *content.bytes
              : content.kind == Kind::kFolder ? "<folder>"
                                              : "<absent>";
    } else if (verb == "exists") {
      ASSIGN_OR_RETURN(const Kind kind, context.Exists(first));
      text += kind == Kind::kFile ? "<file>" : kind == Kind::kFolder ? "<folder>" : "<absent>";
    } else if (verb == "list") {
      ASSIGN_OR_RETURN(const auto names, context.List(first));
      if (!names.has_value()) text += "<absent>";
      for (const std::string& name : names.value_or(std::vector<std::string>())) text += name + ",";
    } else if (verb == "name") {
      ASSIGN_OR_RETURN(const std::string name, context.Name());
      text += name;
    } else if (verb == "platform") {
      ASSIGN_OR_RETURN(const auto value, context.Platform(first));
      text += value.value_or("<unset>");
    } else if (verb == "cooked") {
      ASSIGN_OR_RETURN(const Blob bytes, context.Cooked(first, second));
      text += bytes == nullptr ? "<absent>" : *bytes;
    } else if (verb == "tool") {
      ASSIGN_OR_RETURN(const std::string tool, context.Tool(first));
      text += "<tool>";
    } else if (verb == "append") {
      // "append HOST_PATH TEXT": writes past the context, as a program that knows files' places
      // does.
      std::ofstream(first, std::ios::app) << second;
    } else if (verb == "unchanged") {
      return context.CheckUnchanged();
    } else if (verb == "glob") {
      ASSIGN_OR_RETURN(const auto paths, context.Glob(first, second));
      for (const std::string& path : paths) text += path + ",";
    } else if (verb == "out") {
      return context.AddOutput(first == "." ? "" : first, text);
    } else {
      return Give(context, verb, first);
    }
    return absl::OkStatus();
  }

  static absl::Status Give(CookContext& context, const std::string& verb,
                           const std::string& first) {
    if (verb == "reference") context.AddReference(record::ReferenceKind::kHard, first);
    if (verb == "generate") return context.AddGenerated(first, "generated", "", "");
    if (verb == "warn") context.AddWarning(record::WarningKind::kProgramWarning, first);
    if (verb == "log") context.Log(first);
    if (verb == "verdict") return absl::InvalidArgumentError(first);
    if (verb == "throw") throw std::runtime_error(first);
    if (verb == "exhaust") throw std::bad_alloc();
    if (verb == "refuse") return absl::FailedPreconditionError(first);
    if (verb == "outgrow") return OutOfMemoryError("{}", first);
    if (verb == "errno") return ErrnoStatus(std::stoi(first), "write", "a file");
    if (verb == "fail") return absl::InternalError("disk on fire");
    return absl::OkStatus();
  }

  record::CookerDescription description_;
};

}  // namespace

std::unique_ptr<Cooker> CreateScriptCooker(bool may_generate) {
  return std::make_unique<ScriptCooker>(may_generate);
}

}  // namespace galley::worker
