import Glibc
package import KeychainConnection
package import KeychainMount
import LinuxSupport
import SystemPackage

/// An item that the user changes in an editor, which opens its file in the mount (contract, E21).
package struct EditedItem: Sendable {
    private let item: MountedItem
    private let owner: MountOwner

    /// - Parameter owner: The user whose mount may receive the secret.
    package init(_ item: MountedItem, owner: MountOwner) { (self.item, self.owner) = (item, owner) }

    /// Runs the editor and returns its exit status. The directory of a new item exists until then.
    ///
    /// - Parameter showMessage: Called before the editor is started.
    /// - Throws: If the item cannot be read and written, before the editor is started; `failure` if there is no shell.
    package func edit(with editor: Editor, showMessage: (String) -> Void) throws(CLIError) -> Int32 {
        try item.requireResponse(owner: owner)
        let isNew = try isNew()
        var parent = ItemDirectory(of: item)
        defer { parent.removeCreated() }
        if isNew {
            do throws(Errno) {
                _ = try parent.open(owner: owner)
            } catch {
                throw CLIError(error, item: item.shown, consequence: "Nothing was changed.")
            }
        }
        if editor.mayKeepCopies { showMessage("warning: the editor may keep copies of the secret in other files.") }
        return try run(editor, isNew: isNew)
    }

    private func isNew() throws(CLIError) -> Bool {
        do throws(Errno) {
            let file = try item.open(.readWrite, owner: owner)
            try? file.close()
            return false
        } catch {
            guard error == .noSuchFileOrDirectory else {
                throw CLIError(error, item: item.shown, consequence: "Nothing was changed.")
            }
        }
        try NewItem(item, attributes: [], owner: owner, replaces: false).requireUnlocked()
        return true
    }

    private func run(_ editor: Editor, isNew: Bool) throws(CLIError) -> Int32 {
        let arguments = ["-c", editor.script, "editor"] + editor.options(isNew: isNew) + [item.path]
        let configuration = ChildProcess.Configuration(
            executable: "/bin/sh", arguments: arguments, descriptors: [0: 0, 1: 1, 2: 2])
        do throws(Errno) {
            return try ChildProcess(configuration).waitInForeground()
        } catch {
            throw CLIError(.failure, "The editor cannot be started: \(error).")
        }
    }
}
