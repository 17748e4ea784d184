// The bodies of a director's answers, as values. Whatever is missing or of another type is no
// answer of a director.
//
// Source: docs/http.md. Threads: any.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/vfs/blob_id.h"
#include "common/vfs/response_parser.h"

namespace galley::vfs {

struct SessionState {
  std::string id;
  BlobId root;
  std::optional<BlobId> newest_root;  // nullopt: the present world has none yet
  bool is_frozen = false;
};
std::optional<SessionState> ParseSession(std::string_view json);

struct SessionRequest {
  std::string platform;
  std::vector<std::string> cultures;
  bool takes_last_good = false;
  std::optional<BlobId> root;  // nullopt: the newest one
  std::string succeeds;        // a session's id; empty: none
};
std::string ToJson(const SessionRequest& request);

// Problem: why there is no file, for people.
struct Problem {
  std::string text;
  std::string package;
  std::string log;  // "<hex>/<size>"; empty: there is none
  std::optional<BlobId> root;
};
// `head`: of an answer that is neither 2xx nor 304. Never fails: a body that says nothing leaves
// the status.
Problem ParseProblem(const ResponseHead& head, std::string_view json);

struct FailedPackage {
  std::string package;
  std::string text;
};
// ChangeEvent: how the newest world differs from the one before (docs/http.md, "Changes"). Paths of
// the cooked tree, but for `healed` and `failures`, which are packages.
struct ChangeEvent {
  std::optional<BlobId> root;  // of the newest world; nullopt: it has none yet
  std::vector<std::string> added, modified, removed, stale, healed;
  std::vector<FailedPackage> failures;
  bool is_cut = false;  // there is more than is listed
};
std::optional<ChangeEvent> ParseChange(std::string_view json);

// RootDifference: how the files of a session's root differ from those of an older one.
struct RootDifference {
  struct File {
    std::string path;
    std::optional<BlobId> after;  // nullopt: not cooked, or a folder
  };
  std::vector<File> added, modified;
  std::vector<std::string> removed, stale;
  bool is_cut = false;  // there is more than is listed
};
// nullopt also: a path is not plain.
std::optional<RootDifference> ParseDifference(std::string_view json);

// The digest of the field Repr-Digest, which names one of SHA-256. nullopt: it has none.
std::optional<Hash> ParseReprDigest(std::string_view field);

}  // namespace galley::vfs
