#include "common/vfs/client.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "common/vfs/folder.h"
#include "common/vfs/protocol.h"
#include "common/vfs/retry.h"

namespace galley::vfs {
namespace {

constexpr int kStopped = GALLEY_VFS_OK;  // the code of a request that was ended on purpose

std::string InStatic(const std::string& path) { return path.empty() ? "static" : "static/" + path; }

// Generated packages have no links in a tree's folder `static`.
bool IsGenerated(std::string_view path) { return path.find("/_gen/") != std::string_view::npos; }

}  // namespace

Outcome Client::Begin() {
  if (Outcome failed = blobs_.Begin()) return failed;
  return seen_.Begin();
}

Client::Status Client::status() const {
  return {.session = session_.state(),
          .cache = blobs_.cache().counts(),
          .fetched_files = ground_.fetched_files,
          .fetched_bytes = ground_.http.received_bytes(),
          .refetched_files = ground_.refetched_files};
}

// ------------------------------------------------------------------ files

Result<Client::Opened> Client::Open(const std::string& path) {
  const Waiting waiting = ground_.BeginCall();
  const Result<View> view = session_.Look(waiting);
  if (!view.ok()) return view.fault();
  Result<Opened> opened = OpenIn(*view, path, waiting);
  const bool is_away = !opened.ok() && opened.fault().code == GALLEY_VFS_OFFLINE;
  if (is_away) {
    Result<Opened> seen = OpenSeen(*view, path, waiting);
    if (seen.ok()) return seen;
  }
  if (opened.ok() && view->is_online() && !opened->is_last_good)
    NoteSeen(path, opened->blob, waiting);
  if (opened.ok()) return opened;
  if (view->is_online()) session_.NoteFault(opened.fault());
  return Fault{opened.fault().code, path + ": " + opened.fault().text};
}

// The file `world` of a root names the world.
Result<BlobId> Client::WorldOf(const View& view, const Waiting& waiting) {
  const Result<std::string> root = blobs_.Read(view.root, view.is_online(), waiting);
  if (!root.ok()) return root.fault();
  const Found found = FindEntry(*root, "world");
  if (!found.entry) return Fault{GALLEY_VFS_ABSENT, "the root names no world"};
  return found.entry->blob;
}

void Client::NoteSeen(const std::string& path, const BlobId& blob, const Waiting& waiting) {
  const Result<BlobId> world = WorldOf(session_.state().view, waiting);
  const Outcome failed = world.ok() ? seen_.Note(*world, path, blob) : Outcome(world.fault());
  if (failed) ground_.Log(GALLEY_VFS_WARNING, path + " is not had off line: " + failed->text);
}

// A file that was opened in this world, though the cache lacks folders on the way to it now.
Result<Client::Opened> Client::OpenSeen(const View& view, const std::string& path,
                                        const Waiting& waiting) {
  const View away{.root = view.root, .id = ""};
  const Result<BlobId> world = WorldOf(away, waiting);
  if (!world.ok()) return world.fault();
  const std::optional<BlobId> blob = seen_.Find(*world, path);
  if (!blob) return Fault{GALLEY_VFS_OFFLINE, "it was never opened here"};
  return OpenBlob(away, path, *blob, waiting);
}

Result<PathEntry> Client::Find(const View& view, const std::string& path, const Waiting& waiting) {
  return FollowPath(view.root, InStatic(path), [&](const BlobId& folder) {
    return blobs_.Read(folder, view.is_online(), waiting);
  });
}

Result<Client::Opened> Client::OpenIn(const View& view, const std::string& path,
                                      const Waiting& waiting) {
  const Result<PathEntry> entry = Find(view, path, waiting);
  if (!entry.ok()) return entry.fault();
  if (const auto* const file = std::get_if<FileAt>(&*entry))
    return OpenBlob(view, path, file->blob, waiting);
  if (std::holds_alternative<FolderAt>(*entry)) return Fault{GALLEY_VFS_INVALID, "it is a folder"};
  if (std::holds_alternative<NotCooked>(*entry) || IsGenerated(path))
    return AskFor(view, path, waiting);
  return Fault{GALLEY_VFS_ABSENT, "there is no such file"};
}

Result<Client::Opened> Client::OpenBlob(const View& view, const std::string& path,
                                        const BlobId& blob, const Waiting& waiting) {
  Result<std::shared_ptr<OpenFile>> file = blobs_.Open(blob, view.is_online(), waiting);
  if (file.ok()) return Opened{*std::move(file), blob};
  // A store that has lost it makes it again for whoever asks for the path.
  const bool is_lost = file.fault().code == GALLEY_VFS_ABSENT && view.is_online();
  return is_lost ? AskFor(view, path, waiting) : file.fault();
}

// ------------------------------------------------------------------ a file of the session

Result<Client::Opened> Client::AskFor(const View& view, const std::string& path,
                                      const Waiting& waiting) {
  if (!view.is_online())
    return Fault{GALLEY_VFS_OFFLINE, "it is not in the cache, and the director is away"};
  View asked = view;
  for (int tries = 1;; ++tries) {
    Download download(blobs_.cache());
    if (const Outcome failed = AskOnce(asked, path, waiting, download)) {
      if (tries >= kTriesMax || !MayTryAgain(ground_, *failed, waiting)) return *failed;
      continue;
    }
    const int status = download.head().status;
    if (status == 200) return TakeAnswer(asked, path, download, waiting);
    if (status == 503 && Pause(RetryAfterMs(download.head()), waiting)) {
      --tries;  // not ready is no failure
      continue;
    }
    if (waiting.is_cancelled()) return Fault{GALLEY_VFS_CANCELLED, "it was cancelled"};
    if (status == 404 && tries < kTriesMax) {
      const Result<std::optional<View>> again = session_.OpenAgain(asked, waiting);
      if (!again.ok()) return again.fault();
      if (*again) {
        asked = **again;
        continue;
      }
    }
    return FaultOf("it cannot be had", download.head(), download.problem());
  }
}

// Asks once, and gets the file into the cache if the answer has one.
Outcome Client::AskOnce(const View& view, const std::string& path, const Waiting& waiting,
                        Download& download) {
  const auto take_head = [&](const ResponseHead& head) -> Outcome {
    download.SetHead(head);
    if (head.status != 200) return std::nullopt;
    const std::optional<Hash> hash = ParseReprDigest(head.Find("repr-digest"));
    if (!hash || !head.length)
      return Fault{GALLEY_VFS_SERVER, "the answer has no digest or no length"};
    const BlobId blob{*hash, *head.length};
    if (Outcome failed = download.Begin(blob)) return failed;
    if (blobs_.cache().Open(blob).ok()) return Fault{kStopped, ""};
    download.BeginBodyAt(0);
    return std::nullopt;
  };
  const Request request{.target = "/v1/sessions/" + view.id + "/" + EncodePath(path),
                        .fields = {WaitField(waiting)}};
  const Result<ResponseHead> done =
      ground_.http.Do(request, waiting, {.head = take_head, .body = [&](std::string_view bytes) {
                                           return download.TakeBody(bytes);
                                         }});
  if (!done.ok() && done.fault().code == kStopped) {
    download.Drop();
    return std::nullopt;
  }
  if (!done.ok()) return done.fault();
  if (!download.has_begun()) return std::nullopt;
  if (Outcome failed = download.Finish()) return failed;
  ++ground_.fetched_files;
  return std::nullopt;
}

Result<Client::Opened> Client::TakeAnswer(const View& view, const std::string& path,
                                          const Download& download, const Waiting& waiting) {
  const BlobId& blob = download.blob();
  Result<std::shared_ptr<OpenFile>> file = blobs_.Open(blob, true, waiting);
  if (!file.ok()) return file.fault();
  Opened opened{.file = *std::move(file), .blob = blob};
  opened.is_last_good = !download.head().Find("galley-last-good").empty();
  const std::optional<BlobId> root = BlobId::Parse(download.head().Find("galley-root"));
  if (opened.is_last_good || !root) return opened;
  if (const Outcome failed = CheckInTree(*root, path, blob, waiting)) return *failed;
  session_.MoveTo(view, *root);
  return opened;
}

// The tree must not have another file there. It need not have the file: a session of an older world
// may have it from the store alone.
Outcome Client::CheckInTree(const BlobId& root, const std::string& path, const BlobId& blob,
                            const Waiting& waiting) {
  if (IsGenerated(path)) return std::nullopt;
  const Result<PathEntry> entry = Find({.root = root, .id = "its own"}, path, waiting);
  if (!entry.ok()) return entry.fault();
  const auto* const file = std::get_if<FileAt>(&*entry);
  if (file == nullptr || file->blob == blob) return std::nullopt;
  return Fault{GALLEY_VFS_SERVER, "the director gave another file than its tree has"};
}

// ------------------------------------------------------------------ folders

Result<std::vector<Client::Entry>> Client::List(const std::string& path) {
  const Waiting waiting = ground_.BeginCall();
  const Result<View> view = session_.Look(waiting);
  if (!view.ok()) return view.fault();
  Result<std::vector<Entry>> entries = ListIn(*view, path, waiting);
  if (entries.ok()) return entries;
  if (view->is_online()) session_.NoteFault(entries.fault());
  return Fault{entries.fault().code, path + ": " + entries.fault().text};
}

Result<std::vector<Client::Entry>> Client::ListIn(const View& view, const std::string& path,
                                                  const Waiting& waiting) {
  const Result<PathEntry> found = Find(view, path, waiting);
  if (!found.ok()) return found.fault();
  const auto* const folder = std::get_if<FolderAt>(&*found);
  if (folder == nullptr) return Fault{GALLEY_VFS_ABSENT, "there is no such folder"};
  const Result<std::string> bytes = blobs_.Read(folder->blob, view.is_online(), waiting);
  if (!bytes.ok()) return bytes.fault();
  std::vector<Entry> entries;
  const bool is_folder = ForEachEntry(*bytes, [&](const FolderEntry& entry) {
    Entry listed{.name = std::string(entry.name)};
    if (entry.kind == FolderEntry::Kind::kFile) listed.size = static_cast<int64_t>(entry.blob.size);
    // A link to further outputs of a package.
    listed.is_folder = entry.kind == FolderEntry::Kind::kFolder ||
                       (entry.kind == FolderEntry::Kind::kLink && entry.name.ends_with(".d"));
    entries.push_back(std::move(listed));
    return true;
  });
  if (!is_folder) return Fault{GALLEY_VFS_DAMAGED, "the folder cannot be read"};
  std::ranges::sort(entries, {}, &Entry::name);
  return entries;
}

}  // namespace galley::vfs
