// A job as a canonical REAPI v2 Action. Its digest is the *action key*: the one key of every cache.
//
//   Action   { command_digest, input_root_digest, salt = trust domain }
//            (no name, host, priority, timeout or time in it)
//   Command  { arguments ["galley-cook", cooker],
//              environment_variables [LANG=C.UTF-8, TZ=UTC], output_paths ["out"] }
//   input root:
//     recipe                 EncodeRecipe
//     observations           EncodeObserved
//     source                 the source's bytes
//     rel/<ups>/<path>       file(path) present, path relative with <ups> leading "..":
//                            ../../a/b -> rel/2/a/b; a/b -> rel/0/a/b
//     abs/<path>             file(/path) present
//     cooked/<n>             cooked(...) present; n: its index in the observation set
//     tools/<path>           tool(path) present, path relative to galley.toml, executable. Absolute
//                            tools are taken from the machine that runs the Action, which checks
//                            their digest
//     tools-up/<ups>/<path>  the same for a path with leading "..":
//                            ../sdk/bin/x -> tools-up/1/sdk/bin/x
//   outputs:
//     out/output<suffix>     each output: out/output.ktx2, out/output.d/lod1.glb, out/output (empty
//                            suffix)
//     out/details            EncodeDetails (result.h)
//
// The messages are encoded by hand, field by field in order; tests compare them with protobuf's
// parse of the same bytes.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/digest.h"
#include "common/record/observation.h"
#include "common/record/recipe.h"

namespace galley::record {

struct ActionInputs {
  Recipe recipe;
  Digest source;
  std::vector<Observed> observed;  // canonical
  std::string trust_domain;
};

struct InputFile {
  std::string path;  // in the input root, "rel/1/common.glsl"
  Digest digest;
  bool is_executable = false;
  std::optional<std::string> bytes;  // set for files that this module makes (recipe, observations)
};

struct Action {
  Digest key;                    // digest of `action`
  std::string action;            // canonical bytes
  std::string command;           // canonical bytes
  std::vector<InputFile> files;  // sorted by path
  // Canonical Directory messages, children before parents, the root last.
  std::vector<std::string> directories;
};

// Paths of the files that are in every input root.
inline constexpr std::string_view kRecipePath = "recipe";
inline constexpr std::string_view kObservationsPath = "observations";
inline constexpr std::string_view kSourcePath = "source";

inline constexpr std::string_view kOutputStem = "out/output";
inline constexpr std::string_view kDetailsPath = "out/details";

// INVALID_ARGUMENT: the observations contradict each other (one path is a file and another's
// folder), or a value is malformed.
absl::StatusOr<Action> BuildAction(const ActionInputs& inputs);
// BuildAction(inputs).key.
absl::StatusOr<Digest> ActionKey(const ActionInputs& inputs);
// ActionParts: ActionInputs as views, with digests that are known already.
struct ActionParts {
  std::string_view cooker;
  Digest recipe;  // RecipeDigest
  Digest source;
  std::span<const Observed> observed;  // canonical
  std::string_view encoded_observed;   // EncodeObserved
  std::string_view trust_domain;
};
absl::StatusOr<Digest> ActionKeyOf(const ActionParts& parts);
// ActionMessage: an Action as its bytes have it.
struct ActionMessage {
  Digest command;
  Digest input_root;
  std::string trust_domain;
};
// INVALID_ARGUMENT: `bytes` are no Action of ours: another field, or a digest is absent.
absl::StatusOr<ActionMessage> DecodeAction(std::string_view bytes);
// The path in the input root of `what`, if its value is present; empty: `what` has no file there.
// `index`: its index in the set.
std::string InputPath(const Observation& what, size_t index);

}  // namespace galley::record
