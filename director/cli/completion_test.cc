#include "director/cli/completion.h"

#include <string>

#include "CLI/CLI.hpp"
#include "director/cli/man_page.h"
#include "gtest/gtest.h"

namespace galley::cli {
namespace {

// CompletionTest: a toy with everything that the real program has: commands of commands, choices,
// folders, files, commands that are not built yet.
class CompletionTest : public testing::Test {
 protected:
  CompletionTest() {
    CLI::App* cook = app_.add_subcommand("cook", "Cook what it's told");
    cook->add_option("packages", packages_, "Packages")->type_name("PACKAGE");
    cook->add_option("--out", out_, "Lay the trees out here")->type_name("DIR");
    cook->add_option("--summary", out_, "Write a summary")->type_name("FILE");
    cook->add_option("--class", out_, "How urgent: it overtakes")
        ->check(CLI::IsMember({"now", "commit"}));
    cook->add_flag("--force,-f", force_, "Cook again");
    cook->add_flag("--link", force_, "(not yet)")->group("Not yet");
    CLI::App* store = app_.add_subcommand("store", "The store");
    store->add_subcommand("gc", "Drop what nothing needs");
    app_.add_subcommand("top", "(not yet)")->group("Not yet");
    app_.add_subcommand("completion", "Print completions")
        ->add_option("shell", out_, "The shell")
        ->check(CLI::IsMember(kShells))
        ->required();
    tree_ = TreeOf(app_);
  }
  bool Has(const std::string& shell, const std::string& text) const {
    return CompletionFor(shell, tree_).find(text) != std::string::npos;
  }

  CLI::App app_{"A toy", "galley"};
  std::vector<std::string> packages_;
  std::string out_;
  bool force_ = false;
  CommandHelp tree_;
};

TEST_F(CompletionTest, TheTreeHoldsWhatIsBuilt) {
  ASSERT_EQ(tree_.commands.size(), 3u);
  const CommandHelp& cook = tree_.commands[0];
  EXPECT_EQ(cook.path, "galley cook");
  ASSERT_EQ(cook.arguments.size(), 1u);
  EXPECT_TRUE(cook.arguments[0].is_repeatable);
  EXPECT_EQ(tree_.commands[1].commands[0].path, "galley store gc");
  for (const OptionHelp& option : cook.options) {
    EXPECT_NE(option.names.back(), "--link");
    const bool is_flag = option.names.back() == "--force" || option.names.back() == "--help";
    EXPECT_EQ(option.value.empty(), is_flag) << option.names.back();
  }
}

TEST_F(CompletionTest, EveryShellKnowsCommandsOptionsAndChoices) {
  for (const std::string& shell : kShells) {
    EXPECT_TRUE(Has(shell, "cook")) << shell;
    EXPECT_TRUE(Has(shell, "now commit")) << shell;
    EXPECT_TRUE(Has(shell, "bash zsh fish")) << shell;
    EXPECT_FALSE(Has(shell, "not yet")) << shell;
  }
  EXPECT_TRUE(Has("bash", "'store gc') words="));
  EXPECT_TRUE(Has("bash", "'cook --out') _galley_files -d"));
  EXPECT_TRUE(Has("zsh", "'--class[How urgent\\: it overtakes]:TEXT:(now commit)'") ||
              Has("zsh", "'--class[How urgent\\: it overtakes]:VALUE:(now commit)'"))
      << CompletionFor("zsh", tree_);
  EXPECT_TRUE(Has("fish", "-d 'Cook what it\\'s told'"));
}

TEST_F(CompletionTest, TheManPageHasEveryCommandWithItsOptions) {
  const std::string page = ManPage(tree_, "galley 1");
  EXPECT_NE(page.find(".SS galley store gc\n"), std::string::npos);
  EXPECT_NE(page.find("\\fB\\-\\-class\\fR \\fInow|commit\\fR"), std::string::npos) << page;
  EXPECT_EQ(page.find("not yet"), std::string::npos);
}

}  // namespace
}  // namespace galley::cli
